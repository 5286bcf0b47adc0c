//! Registering a schema: for ever, so what cannot be told from the answer is not guessed.

use reqwest::{Response, StatusCode};
use serde_json::{json, value::RawValue};
use tokio::time::timeout;

use super::{append::is_certain, connection::Connection, streams::encode};
use crate::{
    event::EventType,
    store::{EventSchema, RegisterError, SchemaConflict, StoreError},
};

pub(super) async fn register(
    connection: &Connection,
    event_type: &EventType,
    schema: &EventSchema,
) -> Result<(), RegisterError> {
    let schema: &RawValue = schema.json();
    let object = encode(&Request { event_type, schema })?;
    // Older servers want the schema's text in a string.
    let text = encode(&json!({"eventType": event_type, "schema": schema.get()}))?;
    let within = connection.settings.request_time;
    let registering = async {
        let answer = send(connection, object).await?;
        if answer.status() != StatusCode::BAD_REQUEST {
            return outcome(connection, answer).await;
        }
        let refusal = outcome(connection, answer).await;
        let answer = send(connection, text).await?;
        match answer.status() {
            // What is wrong is not the shape.
            StatusCode::BAD_REQUEST => refusal,
            _ => outcome(connection, answer).await,
        }
    };
    let registered = timeout(within, registering).await;
    registered.unwrap_or_else(|_| {
        let reason = format!("no whole answer within {within:?}");
        Err(unknown(connection, reason))
    })
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    event_type: &'a EventType,
    schema: &'a RawValue,
}

async fn send(connection: &Connection, body: Vec<u8>) -> Result<Response, RegisterError> {
    let request = Connection::json(connection.post("register-event-schema"), body);
    let sent = connection.send(request, connection.settings.request_time);
    sent.await.map_err(|failure| match failure.sent {
        true => unknown(connection, failure.reason),
        false => connection.unavailable(failure.reason).into(),
    })
}

/// Servers differ in what they say of a success, so nothing but the status counts.
async fn outcome(connection: &Connection, answer: Response) -> Result<(), RegisterError> {
    let status = answer.status();
    if status == StatusCode::OK {
        return Ok(());
    }
    Err(match connection.refusal(answer).await {
        StoreError::Refused(text) => match conflict(status, &text) {
            Some(conflict) => conflict.into(),
            None => StoreError::Refused(text).into(),
        },
        refusal if is_certain(status) => refusal.into(),
        StoreError::Unavailable { reason, .. } | StoreError::Corrupt { reason, .. } => {
            unknown(connection, reason)
        }
        refusal => unknown(connection, refusal.to_string()),
    })
}

fn unknown(connection: &Connection, reason: String) -> RegisterError {
    RegisterError::Unknown {
        address: connection.address.clone(),
        reason,
    }
}

/// What the text of a refusal says about a schema, if anything.
pub(super) fn conflict(status: StatusCode, text: &str) -> Option<SchemaConflict> {
    let (_, conflict) = text.split_once("schema conflict: ")?;
    if status != StatusCode::CONFLICT {
        return None;
    }
    if conflict.starts_with("schema already exists") {
        return Some(SchemaConflict::Exists);
    }
    if let Some(reason) = conflict.strip_prefix("event candidate does not match schema: ") {
        return Some(SchemaConflict::Candidate(reason.to_owned()));
    }
    let (id, reason) = conflict.strip_prefix("event with ID ")?.split_once(": ")?;
    let (id, reason) = (id.parse().ok()?, reason.to_owned());
    Some(SchemaConflict::Event { id, reason })
}
