//! The routes of the HTTP API.

use std::sync::Arc;

use axum::{
    Router,
    http::{HeaderValue, header},
    middleware,
    response::Response,
    routing::{get, post},
};

use super::{
    backup, diagnostics, error_response::ErrorResponse, event_types, health,
    line_chunks::send_line_chunks, observe_events, openapi, ping, read_events, read_subjects,
    register_event_schema, run_eventql_query, state::ServerState, verify_api_token, verify_store,
    write_events,
};

/// Clients check that it starts with the name of the database whose protocol this is.
const SERVER_HEADER: HeaderValue = HeaderValue::from_static(concat!(
    "EventSourcingDB/1.2.0 (es-framework/",
    env!("CARGO_PKG_VERSION"),
    ")"
));

/// Creates the routes of version 1. Every other path is unknown, so that newer clients fall back to
/// these.
pub(super) fn router(server: ServerState) -> Router {
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
        .route("/.well-known/openapi", get(openapi::openapi))
        .fallback(async || ErrorResponse::unknown_route())
        .method_not_allowed_fallback(async || ErrorResponse::wrong_method())
        .layer(middleware::from_fn(send_line_chunks))
        .layer(middleware::map_response(add_server_header))
        .with_state(Arc::new(server))
}

async fn add_server_header(mut response: Response) -> Response {
    response.headers_mut().insert(header::SERVER, SERVER_HEADER);
    response
}
