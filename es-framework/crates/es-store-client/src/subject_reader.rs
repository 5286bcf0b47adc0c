//! Reads the subjects and event types of the server, in the order in which the server sends them.

use std::sync::Arc;

use reqwest::{Response, StatusCode};
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use tokio::time::timeout;

use super::{
    connection::ServerConnection,
    event_reader::encode_json,
    row_reader::{RowsRequest, read_rows},
};
use es_event::{EventType, Subject};
use es_store::{EventTypeStream, KnownEventType, StoreError, SubjectStream};

#[derive(Deserialize)]
struct SubjectPayload {
    subject: Subject,
}

/// An event type in a line or a response. The schema is an object or, from older servers, its text in a
/// string.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EventTypePayload {
    event_type: EventType,
    is_phantom: bool,
    schema: Option<Box<RawValue>>,
}

pub(super) fn read_subjects(connection: Arc<ServerConnection>, base: Subject) -> SubjectStream {
    let request = RowsRequest {
        route: "read-subjects",
        body: json!({"baseSubject": base}),
        kind: "subject",
    };
    read_rows(connection, request, move |SubjectPayload { subject }| {
        if subject.is_within(&base) {
            Ok(subject)
        } else {
            Err(format!("{subject} is in the list of subjects below {base}"))
        }
    })
}

pub(super) fn read_event_types(connection: Arc<ServerConnection>) -> EventTypeStream {
    let request = RowsRequest {
        route: "read-event-types",
        body: json!({}),
        kind: "eventType",
    };
    read_rows(connection, request, EventTypePayload::parse)
}

pub(super) async fn read_event_type(
    connection: &ServerConnection,
    event_type: EventType,
) -> Result<Option<KnownEventType>, StoreError> {
    let body = encode_json(&json!({"eventType": event_type}))?;
    let within = connection.settings.request_time;
    let reading = async {
        let request =
            ServerConnection::with_json(connection.authorized_post("read-event-type"), body);
        let sent = connection.send(request, within).await;
        let response = sent.map_err(|error| connection.unavailable(error.reason))?;
        match response.status() {
            StatusCode::OK => parse_event_type(connection, response, &event_type)
                .await
                .map(Some),
            StatusCode::NOT_FOUND => match connection.error_of(response).await {
                // Any other text comes from a server without this route.
                StoreError::Refused(text) if text.contains("event type") => Ok(None),
                error => Err(error),
            },
            _ => Err(connection.error_of(response).await),
        }
    };
    let outcome = timeout(within, reading).await;
    outcome.unwrap_or_else(|_| {
        let reason = format!("no complete response within {within:?}");
        Err(connection.unavailable(reason))
    })
}

/// Parses the requested event type. Any other event type is an error.
async fn parse_event_type(
    connection: &ServerConnection,
    response: Response,
    event_type: &EventType,
) -> Result<KnownEventType, StoreError> {
    let body = connection.read_body(response, connection.settings.line_limit);
    let body = body
        .await
        .map_err(|reason| connection.unavailable(reason))?;
    let known = serde_json::from_slice(&body).map_err(|error| error.to_string());
    let known = known.and_then(EventTypePayload::parse).and_then(|known| {
        let is_same = known.event_type == *event_type;
        is_same
            .then_some(known)
            .ok_or_else(|| "it is another one".to_owned())
    });
    known.map_err(|reason| {
        let reason = format!("the response is not the event type {event_type}: {reason}");
        connection.corrupt(connection.printable(&reason))
    })
}

impl EventTypePayload {
    fn parse(self) -> Result<KnownEventType, String> {
        Ok(KnownEventType {
            event_type: self.event_type,
            is_phantom: self.is_phantom,
            schema: self.schema.map(parse_schema).transpose()?.flatten(),
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
