//! `POST /api/v1/register-event-schema`: what all events of a type have to follow from now on.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode, response::Response};
use serde::Deserialize;
use serde_json::{json, value::RawValue};

use super::{
    Server, auth::Authorized, body::Json, error::Failure, event_types::parse,
    ping::management_event,
};
use crate::store::EventSchema;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    event_type: String,
    schema: Box<RawValue>,
}

pub(super) async fn register_event_schema(
    _: Authorized,
    State(server): State<Arc<Server>>,
    Json(request): Json<Request>,
) -> Result<Response, Failure> {
    let event_type = parse(&request.event_type)?;
    let schema = read(request.schema).await?;
    let data = json!({"eventType": event_type, "schema": schema.json()});
    let registering = server.store.register_event_schema(event_type, schema);
    registering.await?;
    Ok(management_event(
        "/api/v1/register-event-schema",
        "io.eventsourcingdb.api.event-schema-registered",
        data,
    ))
}

/// A large schema with many patterns takes its time, so other requests go on meanwhile.
async fn read(schema: Box<RawValue>) -> Result<EventSchema, Failure> {
    // The older shape has the schema's text in a string.
    let text = serde_json::from_str::<String>(schema.get());
    let text = text.unwrap_or_else(|_| schema.get().to_owned());
    let reading = tokio::task::spawn_blocking(move || EventSchema::parse(&text));
    let broken = |error: tokio::task::JoinError| {
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    };
    let read = reading.await.map_err(broken)?;
    read.map_err(|error| Failure::invalid(error.to_string()))
}
