//! Version 1 of the HTTP API, and the routes that belong to no version.

mod backup;
mod diagnostics;
mod event_types;
mod health;
mod observe_events;
mod options;
mod ping;
mod read_events;
mod read_subjects;
mod register_event_schema;
mod run_eventql_query;
mod verify_api_token;
mod verify_store;
mod write_events;

use std::sync::Arc;

use axum::{
    Router,
    routing::{get, post},
};

use crate::state::ServerState;

/// Returns the routes of version 1.
pub(super) fn routes() -> Router<Arc<ServerState>> {
    Router::new()
        .route("/api/v1/ping", get(ping::ping))
        .route(
            "/api/v1/verify-api-token",
            post(verify_api_token::verify_api_token),
        )
        .route("/api/v1/write-events", post(write_events::write_events))
        .route("/api/v1/read-events", post(read_events::read_events))
        .route(
            "/api/v1/observe-events",
            post(observe_events::observe_events),
        )
        .route(
            "/api/v1/run-eventql-query",
            post(run_eventql_query::run_eventql_query),
        )
        .route("/api/v1/read-subjects", post(read_subjects::read_subjects))
        .route(
            "/api/v1/read-event-type",
            post(event_types::read_event_type),
        )
        .route(
            "/api/v1/read-event-types",
            post(event_types::read_event_types),
        )
        .route(
            "/api/v1/register-event-schema",
            post(register_event_schema::register_event_schema),
        )
        .route("/api/v1/health", get(health::health))
        .route("/api/v1/diagnostics", get(diagnostics::diagnostics))
        .route("/api/v1/verify-store", post(verify_store::verify_store))
        .route("/api/v1/backup", post(backup::backup))
}
