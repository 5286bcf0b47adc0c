//! Registers schemas. A schema can never be removed, so an unclear response is an unknown outcome.

use reqwest::{Response, StatusCode};
use serde_json::{json, value::RawValue};
use tokio::time::timeout;

use super::{
    api_version::DataRoute,
    detected_version::ApiVersion,
    event_reader::encode_request_body,
    http_client::StoreHttpClient,
    listing_reader::RowLine,
    refusal::{is_definite, schema_conflict, schema_failure, store_error},
};
use es_event::EventType;
use es_store::{EventSchema, RegisterError, SchemaConflict, StoreError};

/// Registers the schema of an event type.
pub(super) async fn register_schema(
    http_client: &StoreHttpClient,
    event_type: &EventType,
    schema: &EventSchema,
) -> Result<(), RegisterError> {
    let version = http_client.version().await?;
    let within = http_client.settings.request_time;
    let registering = async {
        match version {
            ApiVersion::V1 => register_v1(http_client, event_type, schema.json()).await,
            ApiVersion::V2 => register_v2(http_client, event_type, schema.json()).await,
        }
    };
    let registered = timeout(within, registering).await;
    registered.unwrap_or_else(|_| {
        let reason = format!("no complete response within {within:?}");
        Err(unknown(http_client, reason))
    })
}

/// Registers the schema in version 1, as an object or as older servers expect it.
async fn register_v1(
    http_client: &StoreHttpClient,
    event_type: &EventType,
    schema: &RawValue,
) -> Result<(), RegisterError> {
    let object = encode_request_body(&RegisterSchemaBody { event_type, schema })?;
    let response = send(http_client, ApiVersion::V1, object).await?;
    if response.status() != StatusCode::BAD_REQUEST {
        return read_outcome(http_client, response).await;
    }
    let first_outcome = read_outcome(http_client, response).await;
    // Older servers expect the text of the schema in a string.
    let text = encode_request_body(&json!({"eventType": event_type, "schema": schema.get()}))?;
    let second_response = send(http_client, ApiVersion::V1, text).await?;
    match second_response.status() {
        // Both formats fail, so the schema itself is invalid.
        StatusCode::BAD_REQUEST => first_outcome,
        _ => read_outcome(http_client, second_response).await,
    }
}

/// Registers the schema in version 2, whose response is a stream.
async fn register_v2(
    http_client: &StoreHttpClient,
    r#type: &EventType,
    schema: &RawValue,
) -> Result<(), RegisterError> {
    let request = encode_request_body(&SchemaBody { r#type, schema })?;
    let response = send(http_client, ApiVersion::V2, request).await?;
    if response.status() != StatusCode::OK {
        return read_outcome(http_client, response).await;
    }
    let limit = http_client.settings.response_limit;
    let read = http_client.read_body(response, limit).await;
    let body = read.map_err(|reason| unknown(http_client, reason))?;
    parse_outcome(http_client, &body)
}

#[derive(serde::Serialize)]
struct SchemaBody<'a> {
    r#type: &'a EventType,
    schema: &'a RawValue,
}

/// Parses the lines of a response of version 2. Without the last one the outcome is unknown.
fn parse_outcome(http_client: &StoreHttpClient, body: &[u8]) -> Result<(), RegisterError> {
    let broken = || unknown(http_client, "the response is malformed".to_owned());
    for line in body.split(|byte| *byte == b'\n') {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let line: RowLine<'_> = serde_json::from_slice(line).map_err(|_| broken())?;
        match line.kind() {
            "end" => return Ok(()),
            "error" => {
                let failure = line.parse_stream_failure().map_err(|_| broken())?;
                if failure.short_code() == "capacity-exceeded" {
                    return Err(SchemaConflict::TooManySchemas.into());
                }
                return Err(match schema_failure(&failure) {
                    Some(conflict) => conflict.into(),
                    None => store_error(http_client, &failure).into(),
                });
            }
            _ => {}
        }
    }
    Err(unknown(http_client, "the response broke off".to_owned()))
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct RegisterSchemaBody<'a> {
    event_type: &'a EventType,
    schema: &'a RawValue,
}

/// Sends a registration, and returns the response.
async fn send(
    http_client: &StoreHttpClient,
    version: ApiVersion,
    body: Vec<u8>,
) -> Result<Response, RegisterError> {
    let empty = http_client.authorized(version, DataRoute::Write("register-event-schema"));
    let request = StoreHttpClient::with_json(empty, body);
    let sent = http_client.send_with_failover(request, http_client.settings.request_time);
    sent.await.map_err(|error| {
        if error.may_have_arrived {
            unknown(http_client, error.reason)
        } else {
            http_client.unavailable(error.reason).into()
        }
    })
}

/// Reads the outcome of a registration. Servers have different bodies for a success, so only the status
/// counts.
async fn read_outcome(
    http_client: &StoreHttpClient,
    response: Response,
) -> Result<(), RegisterError> {
    let status = response.status();
    if status == StatusCode::OK {
        return Ok(());
    }
    Err(match http_client.error_of(response).await {
        StoreError::Refused(text) => match schema_conflict(status, &text) {
            Some(conflict) => conflict.into(),
            None => StoreError::Refused(text).into(),
        },
        error if is_definite(status) => error.into(),
        StoreError::Unavailable { reason, .. } | StoreError::Corrupt { reason, .. } => {
            unknown(http_client, reason)
        }
        error => unknown(http_client, error.to_string()),
    })
}

fn unknown(http_client: &StoreHttpClient, reason: String) -> RegisterError {
    RegisterError::Unknown {
        address: http_client.address.clone(),
        reason,
    }
}
