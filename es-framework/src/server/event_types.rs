//! `POST /api/v1/read-event-type` and `/api/v1/read-event-types`: the types that the store knows.

use std::sync::Arc;

use axum::{
    Json as Answer,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use futures_util::TryStreamExt as _;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Server, auth::Authorized, body::Json, error::Failure, rows::rows};
use crate::{
    event::{Dialect, EventType},
    store::KnownEventType,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    event_type: String,
}

/// As a client is told of it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    event_type: EventType,
    is_phantom: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<WireSchema>,
}

/// The older shape has the schema's text in a string.
#[derive(Serialize)]
#[serde(untagged)]
enum WireSchema {
    Object(Box<RawValue>),
    Text(String),
}

fn wire(known: KnownEventType, dialect: Dialect) -> Wire {
    let KnownEventType {
        event_type,
        is_phantom,
        schema,
    } = known;
    let schema = schema.map(|schema| match dialect {
        Dialect::Item => WireSchema::Text(schema.get().to_owned()),
        Dialect::Event => WireSchema::Object(schema),
    });
    Wire {
        event_type,
        is_phantom,
        schema,
    }
}

/// The error's text begins with the words that clients look for.
pub(super) fn parse(event_type: &str) -> Result<EventType, Failure> {
    let parsed = event_type.parse::<EventType>();
    parsed.map_err(|error| Failure::invalid(error.to_string()))
}

pub(super) async fn read_event_type(
    _: Authorized,
    State(server): State<Arc<Server>>,
    Json(request): Json<Request>,
) -> Result<Response, Failure> {
    let event_type = parse(&request.event_type)?;
    let known = server.store.read_event_type(event_type.clone()).await?;
    let known = known.ok_or_else(|| {
        let text = format!("event type '{event_type}' not found");
        Failure::new(StatusCode::NOT_FOUND, text)
    })?;
    Ok(Answer(wire(known, server.settings.dialect)).into_response())
}

/// The body does not matter: clients send none, `null` or `{}`.
pub(super) async fn read_event_types(_: Authorized, State(server): State<Arc<Server>>) -> Response {
    let dialect = server.settings.dialect;
    let known = server.store.read_event_types();
    rows("eventType", known.map_ok(move |known| wire(known, dialect)))
}
