//! Version 2 of the HTTP API: one file per endpoint.
//!
//! Errors of the domain have status 200 and a code. Only a malformed request and a server that cannot
//! answer have another status. Clients fall back to version 1 when a path answers 404 or 405, so no
//! endpoint does.

mod error_envelope;
mod observe_events;
mod options;
mod pending_response;
mod ping;
mod read_event_type;
mod read_event_types;
mod read_events;
mod read_subjects;
mod register_event_schema;
mod run_eventql_query;
mod safe_query;
mod strict_body;
mod values;
mod verify_token;
mod write_events;
mod write_preconditions;

use std::sync::Arc;

use axum::{
    Router,
    routing::{any, get, post},
};

use crate::state::ServerState;

/// Returns the routes of version 2. Routes that accept any method check for `QUERY` themselves,
/// because the router does not know that method.
pub(super) fn routes() -> Router<Arc<ServerState>> {
    Router::new()
        .route("/api/v2/system/ping", get(ping::ping))
        .route(
            "/api/v2/system/verify-token",
            post(verify_token::verify_token),
        )
        .route(
            "/api/v2/data/write-events",
            post(write_events::write_events),
        )
        .route(
            "/api/v2/data/register-event-schema",
            post(register_event_schema::register_event_schema),
        )
        .route("/api/v2/data/read-events", any(read_events::read_events))
        .route(
            "/api/v2/data/observe-events",
            any(observe_events::observe_events),
        )
        .route(
            "/api/v2/data/run-eventql-query",
            any(run_eventql_query::run_eventql_query),
        )
        .route(
            "/api/v2/data/read-subjects",
            any(read_subjects::read_subjects),
        )
        .route(
            "/api/v2/data/read-event-type",
            any(read_event_type::read_event_type),
        )
        .route(
            "/api/v2/data/read-event-types",
            any(read_event_types::read_event_types),
        )
}
