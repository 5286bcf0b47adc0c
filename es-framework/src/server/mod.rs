//! The event store's HTTP API, version 1, over any [`EventStore`]: one file for each endpoint.

mod auth;
mod backup;
mod body;
pub mod cli;
mod conditional_write;
mod diagnostics;
mod error;
mod event_types;
mod health;
mod lines;
mod observe_events;
mod openapi;
mod options;
mod ping;
mod read_events;
mod read_subjects;
mod register_event_schema;
mod rows;
mod run_eventql_query;
mod serve;
mod signing;
mod stored;
mod verify_api_token;
mod verify_store;
mod write_events;

#[cfg(test)]
pub(crate) mod tests;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Router,
    http::{HeaderValue, header},
    middleware,
    response::Response,
    routing::{get, post},
};
use tokio::sync::{Semaphore, watch};

use crate::{event::Dialect, eventql::QueryLimits, store::EventStore};

pub use auth::{ApiToken, InvalidApiToken};
pub use serve::serve;
pub use signing::{InvalidSigningKey, SigningKey};

use error::Failure;

/// What an event store's HTTP API is served with.
///
/// ```
/// use std::time::Duration;
///
/// use es_framework::{event::Dialect, server::Settings};
///
/// let mut settings = Settings::new("secret".parse()?);
/// settings.dialect = Dialect::Event;
/// settings.drain = Duration::from_secs(2);
/// # Ok::<_, es_framework::server::InvalidApiToken>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// What every request but a ping must carry.
    pub api_token: ApiToken,
    /// The shape of events in answers.
    pub dialect: Dialect,
    /// Signs events as they are sent, where the shape has a place for it.
    pub signing_key: Option<SigningKey>,
    /// The longest body of a request, in bytes.
    pub body_limit: usize,
    /// How many events, and how many preconditions, one write may have.
    pub events_limit: usize,
    /// How long a request's body may take to arrive, and a write to be done.
    pub request_time: Duration,
    /// How often an idle observer, or a query without rows, gets a sign of life.
    pub heartbeat: Duration,
    /// What a query may cost.
    pub query_limits: QueryLimits,
    /// How many observers there may be at once.
    pub observers_limit: usize,
    /// How long open requests may go on once the server is told to end.
    pub drain: Duration,
}

impl Settings {
    /// The default settings with this token.
    #[must_use]
    pub const fn new(api_token: ApiToken) -> Self {
        Self {
            api_token,
            dialect: Dialect::Item,
            signing_key: None,
            body_limit: 8 * 1024 * 1024,
            events_limit: 10_000,
            request_time: Duration::from_secs(30),
            // The official clients give up after three to thirty seconds of silence, and one
            // wants more than three signs of life within ten seconds.
            heartbeat: Duration::from_secs(1),
            query_limits: QueryLimits::DEFAULT,
            observers_limit: 100,
            drain: Duration::from_secs(10),
        }
    }
}

/// What every endpoint works with.
#[derive(Debug)]
struct Server {
    store: Arc<dyn EventStore>,
    settings: Settings,
    started: Instant,
    /// Turns true when the server is to end: observers would keep it open for ever.
    closing: watch::Receiver<bool>,
    /// The places of observers.
    observers: Arc<Semaphore>,
}

/// Clients check that it starts with the name of the database whose protocol this is.
const SERVER: HeaderValue = HeaderValue::from_static(concat!(
    "EventSourcingDB/1.2.0 (es-framework/",
    env!("CARGO_PKG_VERSION"),
    ")"
));

/// The routes of version 1. Every other path is unknown, which tells newer clients to use these.
fn router(server: Server) -> Router {
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
        .fallback(async || Failure::unknown_route())
        .method_not_allowed_fallback(async || Failure::wrong_method())
        .layer(middleware::map_response(name_server))
        .with_state(Arc::new(server))
}

async fn name_server(mut response: Response) -> Response {
    response.headers_mut().insert(header::SERVER, SERVER);
    response
}
