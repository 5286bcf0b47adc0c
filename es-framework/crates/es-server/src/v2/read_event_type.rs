//! `QUERY /api/v2/data/read-event-type` describes one event type.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    error_envelope::ErrorEnvelope,
    safe_query::QueryMethod,
    strict_body::StrictBody,
    values::{OptionalText, parse_event_type},
};
use crate::{
    api_error::ApiError, auth::RequireApiToken, error_code::ErrorCode,
    single_envelope::single_envelope, state::ServerState,
};
use es_event::EventType;
use es_store::KnownEventType;

/// The body of read-event-type.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct EventTypeBody {
    r#type: OptionalText,
}

/// The description of an event type in an envelope.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EventTypeDescription {
    r#type: EventType,
    has_events: bool,
    schema: Option<Arc<RawValue>>,
}

impl From<KnownEventType> for EventTypeDescription {
    fn from(known: KnownEventType) -> Self {
        Self {
            r#type: known.event_type,
            has_events: !known.is_phantom,
            schema: known.schema,
        }
    }
}

pub(super) async fn read_event_type(
    _: QueryMethod,
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
    StrictBody(body): StrictBody<EventTypeBody>,
) -> Response {
    match find_event_type(&server, body).await {
        Ok(known) => single_envelope("eventType", &EventTypeDescription::from(known)),
        Err(error) => ErrorEnvelope::from(error).into_single_response(),
    }
}

async fn find_event_type(
    server: &ServerState,
    body: EventTypeBody,
) -> Result<KnownEventType, ApiError> {
    let event_type = parse_event_type(body.r#type)?;
    let known = server.store.read_event_type(event_type.clone()).await?;
    known.ok_or_else(|| {
        let text = "event type is unknown: it has neither events nor a registered schema";
        let error = ApiError::of_code(ErrorCode::EventTypeUnknown, text);
        error.with_detail("value", event_type.as_str())
    })
}
