//! Reads the subjects and event types of the server, in the order in which the server sends them.

use std::sync::Arc;

use reqwest::{Response, StatusCode};
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use tokio::time::timeout;

use super::{
    api_version::DataRoute,
    detected_version::ApiVersion,
    event_reader::encode_request_body,
    http_client::StoreHttpClient,
    listing_reader::{RowLine, RowsRequest, read_rows},
    refusal::store_error,
};
use es_event::{EventType, Subject};
use es_store::{EventTypeStream, KnownEventType, StoreError, SubjectStream};

/// The payload of a line with a subject.
#[derive(Deserialize)]
struct SubjectPayload {
    subject: Subject,
}

/// An event type in a line or a response. The schema is an object or, from older servers, its text in a
/// string.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EventTypePayload {
    #[serde(alias = "type")]
    event_type: EventType,
    /// Version 1 tells this, and version 2 the opposite.
    is_phantom: Option<bool>,
    has_events: Option<bool>,
    schema: Option<Box<RawValue>>,
}

pub(super) fn read_subjects(http_client: Arc<StoreHttpClient>, base: Subject) -> SubjectStream {
    let requested = base.clone();
    let request = move |version| RowsRequest {
        version,
        route: "read-subjects",
        body: Some(match version {
            ApiVersion::V1 => json!({"baseSubject": requested}),
            ApiVersion::V2 => json!({"subject": requested, "options": {"recursive": true}}),
        }),
        kind: "subject",
    };
    read_rows(http_client, request, move |SubjectPayload { subject }| {
        if subject.is_within(&base) {
            Ok(subject)
        } else {
            Err(format!("{subject} is in the list of subjects below {base}"))
        }
    })
}

pub(super) fn read_event_types(http_client: Arc<StoreHttpClient>) -> EventTypeStream {
    let request = |version| RowsRequest {
        version,
        route: "read-event-types",
        body: match version {
            ApiVersion::V1 => Some(json!({})),
            ApiVersion::V2 => None,
        },
        kind: "eventType",
    };
    read_rows(http_client, request, EventTypePayload::parse)
}

pub(super) async fn read_event_type(
    http_client: &StoreHttpClient,
    event_type: EventType,
) -> Result<Option<KnownEventType>, StoreError> {
    let version = http_client.version().await?;
    let body = encode_request_body(&match version {
        ApiVersion::V1 => json!({"eventType": event_type}),
        ApiVersion::V2 => json!({"type": event_type}),
    })?;
    let within = http_client.settings.request_time;
    let reading = async {
        let request = http_client.authorized(version, DataRoute::Read("read-event-type"));
        let request = StoreHttpClient::with_json(request, body);
        let sent = http_client.send_with_failover(request, within).await;
        let response = sent.map_err(|error| http_client.unavailable(error.reason))?;
        match response.status() {
            StatusCode::OK => parse_event_type(http_client, response, version, &event_type).await,
            StatusCode::NOT_FOUND if version == ApiVersion::V1 => {
                match http_client.error_of(response).await {
                    // Any other text comes from a server without this route.
                    StoreError::Refused(text) if text.contains("event type") => Ok(None),
                    error => Err(error),
                }
            }
            _ => Err(http_client.error_of(response).await),
        }
    };
    let outcome = timeout(within, reading).await;
    outcome.unwrap_or_else(|_| {
        let reason = format!("no complete response within {within:?}");
        Err(http_client.unavailable(reason))
    })
}

/// Parses the requested event type. Any other event type is an error.
async fn parse_event_type(
    http_client: &StoreHttpClient,
    response: Response,
    version: ApiVersion,
    event_type: &EventType,
) -> Result<Option<KnownEventType>, StoreError> {
    let limit = http_client.settings.line_limit;
    let read = http_client.read_body(response, limit).await;
    let body = read.map_err(|reason| http_client.unavailable(reason))?;
    let broken = |reason: &dyn std::fmt::Display| {
        let reason = format!("the response is not the event type {event_type}: {reason}");
        http_client.corrupt(http_client.printable(&reason))
    };
    let payload: EventTypePayload = match version {
        ApiVersion::V1 => serde_json::from_slice(&body),
        ApiVersion::V2 => {
            let line: RowLine<'_> =
                serde_json::from_slice(&body).map_err(|error| broken(&error))?;
            if line.kind() == "error" {
                let failure = line
                    .parse_stream_failure()
                    .map_err(|error| broken(&error))?;
                return match failure.short_code() {
                    "event-type-unknown" => Ok(None),
                    _ => Err(store_error(http_client, &failure)),
                };
            }
            line.parse_payload()
        }
    }
    .map_err(|error| broken(&error))?;
    let known = payload.parse().map_err(|reason| broken(&reason))?;
    if known.event_type == *event_type {
        Ok(Some(known))
    } else {
        Err(broken(&"it is another one"))
    }
}

impl EventTypePayload {
    /// Converts the payload to an event type.
    fn parse(self) -> Result<KnownEventType, String> {
        Ok(KnownEventType {
            event_type: self.event_type,
            is_phantom: self
                .is_phantom
                .or(self.has_events.map(|has_events| !has_events))
                .ok_or_else(|| "it does not tell if it has events".to_owned())?,
            schema: self
                .schema
                .map(parse_schema)
                .transpose()?
                .flatten()
                .map(Into::into),
        })
    }
}

/// Parses a schema. An empty text means that there is none.
fn parse_schema(schema: Box<RawValue>) -> Result<Option<Box<RawValue>>, String> {
    let schema = match serde_json::from_str::<String>(schema.get()) {
        Ok(text) if text.is_empty() => return Ok(None),
        Ok(text) => RawValue::from_string(text)
            .map_err(|error| format!("the text of a schema is malformed: {error}"))?,
        Err(_) => schema,
    };
    if schema.get().starts_with('{') {
        Ok(Some(schema))
    } else {
        Err("a schema is not an object".to_owned())
    }
}
