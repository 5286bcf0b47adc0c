//! What the server knows of its subjects and event types. Both come in the server's own order.

use std::sync::Arc;

use reqwest::{Response, StatusCode};
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use tokio::time::timeout;

use super::{
    connection::Connection,
    rows::{Question, rows},
    streams::encode,
};
use crate::{
    event::{EventType, Subject},
    store::{EventTypeStream, KnownEventType, StoreError, SubjectStream},
};

#[derive(Deserialize)]
struct Listed {
    subject: Subject,
}

/// An event type as a line or an answer of its own. The schema is an object or, from older
/// servers, its text in a string.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireType {
    event_type: EventType,
    is_phantom: bool,
    schema: Option<Box<RawValue>>,
}

pub(super) fn read_subjects(connection: Arc<Connection>, base: Subject) -> SubjectStream {
    let question = Question {
        route: "read-subjects",
        body: json!({"baseSubject": base}),
        kind: "subject",
    };
    rows(
        connection,
        question,
        move |Listed { subject }| match subject.is_within(&base) {
            true => Ok(subject),
            false => Err(format!("{subject} came in a list of what is below {base}")),
        },
    )
}

pub(super) fn read_event_types(connection: Arc<Connection>) -> EventTypeStream {
    let question = Question {
        route: "read-event-types",
        body: json!({}),
        kind: "eventType",
    };
    rows(connection, question, WireType::known)
}

pub(super) async fn read_event_type(
    connection: &Connection,
    event_type: EventType,
) -> Result<Option<KnownEventType>, StoreError> {
    let body = encode(&json!({"eventType": event_type}))?;
    let within = connection.settings.request_time;
    let asking = async {
        let request = Connection::json(connection.post("read-event-type"), body);
        let sent = connection.send(request, within).await;
        let answer = sent.map_err(|failure| connection.unavailable(failure.reason))?;
        match answer.status() {
            StatusCode::OK => known(connection, answer, &event_type).await.map(Some),
            StatusCode::NOT_FOUND => match connection.refusal(answer).await {
                // Any other text is that of a server which lacks the route.
                StoreError::Refused(text) if text.contains("event type") => Ok(None),
                refusal => Err(refusal),
            },
            _ => Err(connection.refusal(answer).await),
        }
    };
    let asked = timeout(within, asking).await;
    asked.unwrap_or_else(|_| Err(connection.unavailable(format!("no whole answer in {within:?}"))))
}

/// The type that was asked for, and no other.
async fn known(
    connection: &Connection,
    answer: Response,
    event_type: &EventType,
) -> Result<KnownEventType, StoreError> {
    let body = connection.body(answer, connection.settings.line_limit);
    let body = body
        .await
        .map_err(|reason| connection.unavailable(reason))?;
    let known = serde_json::from_slice(&body).map_err(|error| error.to_string());
    let known = known.and_then(WireType::known).and_then(|known| {
        let same = known.event_type == *event_type;
        same.then_some(known).ok_or_else(|| "another".to_owned())
    });
    known.map_err(|reason| {
        let reason = format!("the answer is not the event type {event_type}: {reason}");
        connection.corrupt(connection.shown(&reason))
    })
}

impl WireType {
    fn known(self) -> Result<KnownEventType, String> {
        Ok(KnownEventType {
            event_type: self.event_type,
            is_phantom: self.is_phantom,
            schema: self.schema.map(schema).transpose()?.flatten(),
        })
    }
}

/// No text at all is no schema.
fn schema(given: Box<RawValue>) -> Result<Option<Box<RawValue>>, String> {
    let schema = match serde_json::from_str::<String>(given.get()) {
        Ok(text) if text.is_empty() => return Ok(None),
        Ok(text) => RawValue::from_string(text)
            .map_err(|error| format!("the text of a schema is malformed: {error}"))?,
        Err(_) => given,
    };
    match schema.get().starts_with('{') {
        true => Ok(Some(schema)),
        false => Err("a schema is not an object".to_owned()),
    }
}
