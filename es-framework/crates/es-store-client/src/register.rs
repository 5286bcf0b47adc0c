//! Registers schemas. A schema can never be removed, so an unclear response is an unknown outcome.

use reqwest::{Response, StatusCode};
use serde_json::{json, value::RawValue};
use tokio::time::timeout;

use super::{
    connection::ServerConnection,
    event_reader::encode_json,
    refusal::{is_definite, schema_conflict},
};
use es_event::EventType;
use es_store::{EventSchema, RegisterError, StoreError};

/// Registers the schema of an event type.
pub(super) async fn register(
    connection: &ServerConnection,
    event_type: &EventType,
    schema: &EventSchema,
) -> Result<(), RegisterError> {
    let schema: &RawValue = schema.json();
    let object = encode_json(&RegisterSchemaBody { event_type, schema })?;
    // Older servers expect the text of the schema in a string.
    let text = encode_json(&json!({"eventType": event_type, "schema": schema.get()}))?;
    let within = connection.settings.request_time;
    let registering = async {
        let response = send(connection, object).await?;
        if response.status() != StatusCode::BAD_REQUEST {
            return read_outcome(connection, response).await;
        }
        let first_outcome = read_outcome(connection, response).await;
        let response = send(connection, text).await?;
        match response.status() {
            // Both formats fail, so the schema itself is invalid.
            StatusCode::BAD_REQUEST => first_outcome,
            _ => read_outcome(connection, response).await,
        }
    };
    let registered = timeout(within, registering).await;
    registered.unwrap_or_else(|_| {
        let reason = format!("no complete response within {within:?}");
        Err(unknown(connection, reason))
    })
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct RegisterSchemaBody<'a> {
    event_type: &'a EventType,
    schema: &'a RawValue,
}

async fn send(connection: &ServerConnection, body: Vec<u8>) -> Result<Response, RegisterError> {
    let request =
        ServerConnection::with_json(connection.authorized_post("register-event-schema"), body);
    let sent = connection.send(request, connection.settings.request_time);
    sent.await.map_err(|error| {
        if error.may_have_arrived {
            unknown(connection, error.reason)
        } else {
            connection.unavailable(error.reason).into()
        }
    })
}

/// Reads the outcome of a registration. Servers have different bodies for a success, so only the status
/// counts.
async fn read_outcome(
    connection: &ServerConnection,
    response: Response,
) -> Result<(), RegisterError> {
    let status = response.status();
    if status == StatusCode::OK {
        return Ok(());
    }
    Err(match connection.error_of(response).await {
        StoreError::Refused(text) => match schema_conflict(status, &text) {
            Some(conflict) => conflict.into(),
            None => StoreError::Refused(text).into(),
        },
        error if is_definite(status) => error.into(),
        StoreError::Unavailable { reason, .. } | StoreError::Corrupt { reason, .. } => {
            unknown(connection, reason)
        }
        error => unknown(connection, error.to_string()),
    })
}

fn unknown(connection: &ServerConnection, reason: String) -> RegisterError {
    RegisterError::Unknown {
        address: connection.address.clone(),
        reason,
    }
}
