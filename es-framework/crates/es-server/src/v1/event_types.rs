//! `POST /api/v1/read-event-type` and `/api/v1/read-event-types` describe the event types of the store.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use futures_util::TryStreamExt as _;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{api_error::ApiError, auth::RequireApiToken, json_body::JsonBody, state::ServerState};
use es_event::{Dialect, EventType};
use es_store::KnownEventType;

/// The body of read-event-type.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReadEventTypeRequest {
    event_type: String,
}

/// The description of an event type in a response.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EventTypeResponse {
    event_type: EventType,
    is_phantom: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<DialectSchema>,
}

/// The schema of an event type in a response: a JSON object, or in the older dialect a string that contains
/// the JSON.
#[derive(Serialize)]
#[serde(untagged)]
enum DialectSchema {
    Object(Arc<RawValue>),
    Text(String),
}

/// Converts an event type to the response in a dialect.
fn describe(known: KnownEventType, dialect: Dialect) -> EventTypeResponse {
    let KnownEventType {
        event_type,
        is_phantom,
        schema,
    } = known;
    let schema = schema.map(|schema| match dialect {
        Dialect::Item => DialectSchema::Text(schema.get().to_owned()),
        Dialect::Event => DialectSchema::Object(schema),
    });
    EventTypeResponse {
        event_type,
        is_phantom,
        schema,
    }
}

/// Parses an event type. Clients compare the whole text of the error, so the log has the explanation.
pub(super) fn parse_event_type(event_type: &str) -> Result<EventType, ApiError> {
    let parsed = event_type.parse::<EventType>();
    parsed.map_err(|error| {
        tracing::info!("refused a request: {error}");
        ApiError::invalid_request(format!("invalid event type: '{event_type}'"))
    })
}

pub(super) async fn read_event_type(
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
    JsonBody(request): JsonBody<ReadEventTypeRequest>,
) -> Result<Response, ApiError> {
    let event_type = parse_event_type(&request.event_type)?;
    let found = server.store.read_event_type(event_type.clone()).await?;
    let known = found.ok_or_else(|| {
        let text = format!("event type '{event_type}' not found");
        ApiError::new(StatusCode::NOT_FOUND, text)
    })?;
    Ok(Json(describe(known, server.settings.dialect)).into_response())
}

/// Ignores the body: clients send none, `null` or `{}`.
pub(super) async fn read_event_types(
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
) -> Response {
    let dialect = server.settings.dialect;
    let known = server.store.read_event_types();
    let rows = known.map_ok(move |known| describe(known, dialect));
    let format = server.v1_format();
    format.rows_response("eventType", rows, &server.settings)
}
