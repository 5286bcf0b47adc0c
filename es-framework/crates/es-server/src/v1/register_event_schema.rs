//! `POST /api/v1/register-event-schema` registers the schema that all events of a type must match.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use es_event::checked_json::check_members;
use serde::Deserialize;
use serde_json::{json, value::RawValue};

use super::{event_types::parse_event_type, ping::management_response};
use crate::{api_error::ApiError, auth::RequireApiToken, json_body::JsonBody, state::ServerState};
use es_store::{EventSchema, schema_work};

/// The body of register-event-schema.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RegisterEventSchemaRequest {
    event_type: String,
    schema: Box<RawValue>,
}

pub(super) async fn register_event_schema(
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
    JsonBody(request): JsonBody<RegisterEventSchemaRequest>,
) -> Result<Response, ApiError> {
    let event_type = parse_event_type(&request.event_type)?;
    let schema = parse_schema(request.schema).await?;
    let data = json!({"eventType": event_type, "schema": schema.json()});
    let registering = server.store.register_event_schema(event_type, schema);
    registering.await?;
    Ok(management_response(
        "/api/v1/register-event-schema",
        "io.eventsourcingdb.api.event-schema-registered",
        data,
    ))
}

/// Parses a schema.
async fn parse_schema(schema: Box<RawValue>) -> Result<EventSchema, ApiError> {
    // The older dialect has the schema's text in a string.
    let in_string = serde_json::from_str::<String>(schema.get());
    let text = in_string.unwrap_or_else(|_| schema.get().to_owned());
    if let Ok(schema) = serde_json::from_str::<&RawValue>(&text) {
        check_members(schema)
            .map_err(|error| ApiError::invalid_request(format!("invalid schema: {error}")))?;
    }
    let schema = schema_work::run_on_blocking_thread(move || EventSchema::parse(&text)).await?;
    schema.map_err(|error| ApiError::invalid_request(error.to_string()))
}
