//! `POST /api/v2/data/register-event-schema` registers the schema that all events of a type must match.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use serde::Deserialize;
use serde_json::{json, value::RawValue};

use super::{
    error_envelope::ErrorEnvelope,
    pending_response::respond_when_done,
    strict_body::{OptionalMember, StrictBody, null_at},
    values::{OptionalText, parse_event_type},
};
use crate::{
    api_error::ApiError,
    auth::RequireApiToken,
    envelope::{END_LINE, write_envelope},
    error_code::ErrorCode,
    response_event::ResponseEvent,
    state::ServerState,
};
use es_event::EventType;
use es_store::{EventSchema, schema_work};

/// The body of register-event-schema.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RegisterBody {
    r#type: OptionalText,
    schema: OptionalMember<Box<RawValue>>,
}

pub(super) async fn register_event_schema(
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
    StrictBody(body): StrictBody<RegisterBody>,
) -> Result<Response, ErrorEnvelope> {
    let event_type = parse_event_type(body.r#type)?;
    let schema = check_schema(body.schema.0)?;
    let heartbeat = server.settings.heartbeat;
    respond_when_done(register(server, event_type, schema), heartbeat).await
}

fn check_schema(schema: Option<Box<RawValue>>) -> Result<Box<RawValue>, ApiError> {
    let Some(schema) = schema else {
        let text = "schema is missing";
        return Err(ApiError::of_code(ErrorCode::EventSchemaMissing, text));
    };
    match schema.get().as_bytes().first() {
        Some(b'{') => Ok(schema),
        Some(b'n') => Err(ApiError::invalid_request(null_at("/schema"))),
        _ => {
            let text = "schema is not an object";
            Err(ApiError::of_code(ErrorCode::EventSchemaNotObject, text))
        }
    }
}

async fn register(
    server: Arc<ServerState>,
    event_type: EventType,
    schema: Box<RawValue>,
) -> Result<Vec<u8>, ApiError> {
    let parsed =
        schema_work::run_on_blocking_thread(move || EventSchema::parse(schema.get())).await?;
    let schema = parsed
        .map_err(|error| ApiError::of_code(ErrorCode::EventSchemaMalformed, error.to_string()))?;
    let data = json!({"type": event_type, "schema": schema.json()});
    let registering = server.store.register_event_schema(event_type, schema);
    registering.await?;
    let event = ResponseEvent::new(
        "/api/v2/data/register-event-schema",
        "io.eventsourcingdb.api.event-schema-registered",
        data,
    );
    let mut lines = Vec::new();
    write_envelope("event", &event, &mut lines);
    lines.extend_from_slice(END_LINE);
    Ok(lines)
}
