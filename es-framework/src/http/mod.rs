//! The application's own HTTP surface: commands, queries, health.

pub mod auth;
mod command;
mod context;
pub mod headers;
pub mod health;
mod lag;
mod limits;
mod live;
mod metrics;
mod observe;
mod problem;
mod query;
pub mod settings;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::Request,
    http::{HeaderName, Method, Uri},
    middleware,
    response::IntoResponse as _,
    routing::get,
};

use crate::{
    command::{Bus, Clock, Registry},
    projection::{Database, Positions},
    query::Route,
};

use auth::{Auth, RateLimit};
use headers::Browsers;
use health::Health;
use limits::Keeper;
pub use live::{LiveLimits, LiveQueries};
use observe::Templates;
pub use problem::Problem;

/// Bounds on what a client may ask of the server.
///
/// ```
/// use es_framework::http::RequestLimits;
///
/// assert_eq!(RequestLimits::default().body_size, 1024 * 1024);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct RequestLimits {
    /// The largest body, in bytes.
    pub body_size: usize,
    /// How long a client may take to send a body.
    pub body_time: Duration,
    /// All headers together, in bytes.
    pub headers_size: usize,
    /// How many headers there are.
    pub header_count: usize,
    /// Commands and queries that are carried out at once.
    pub requests: usize,
    /// How long a request may take from its headers to its answer.
    pub request_time: Duration,
    /// How long a query waits for the position that its caller asks for.
    pub position_wait: Duration,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            body_size: 1024 * 1024,
            body_time: Duration::from_secs(20),
            headers_size: 16 * 1024,
            header_count: 64,
            requests: 400,
            request_time: Duration::from_secs(60),
            position_wait: Duration::from_secs(5),
        }
    }
}

/// What the routes work with.
#[derive(Debug)]
pub struct Surface {
    /// Carries commands to the store.
    pub bus: Bus,
    /// Tells queries the time.
    pub clock: Clock,
    /// Answers queries.
    pub database: Database,
    /// How far the read models have come.
    pub positions: Positions,
    /// Checks of all that the application needs.
    pub health: Health,
    /// Queries whose answers are kept up to date.
    pub live: LiveQueries,
    /// Bounds on requests.
    pub limits: RequestLimits,
    /// Who may call.
    pub auth: Auth,
    /// How often each client may.
    pub rate: Option<RateLimit>,
    /// What is said to browsers.
    pub browsers: Browsers,
    /// The headers of a request that go into the metadata of its events.
    pub metadata_headers: Vec<HeaderName>,
    /// Whether the name of the caller does, too.
    pub metadata_caller: bool,
}

/// The routes of an application.
pub fn router(registry: &Registry, queries: Vec<Route>, surface: Surface) -> Router {
    let mut router = Router::new()
        .route("/actuator/health", get(health::show))
        .route("/actuator/health/liveness", get(health::liveness))
        .route("/actuator/health/readiness", get(health::readiness))
        .route("/actuator/info", get(health::info))
        .route("/actuator/prometheus", get(metrics::show));
    let mut templates = Vec::new();
    let commands = registry.commands().iter();
    for command in commands.filter(|command| !command.is_internal()) {
        let (path, route) = command::route(*command);
        router = router.route(&path, surface.auth.require(command.role, route));
        templates.push((path, command.path.into()));
    }
    for query in queries {
        let (template, role) = (query.path.clone(), query.role());
        let (path, route) = query::route(query);
        router = router.route(&path, surface.auth.require(role, route));
        templates.push((path, template));
    }
    let router = router
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed);
    let router = auth::guarded(router, surface.auth.clone(), surface.rate.clone());
    let router = router.layer(middleware::from_fn_with_state(
        Keeper::new(surface.limits),
        limits::keep,
    ));
    // Around the guard: a browser asks whether it may call before it sends who calls.
    headers::on_every_answer(router, surface.browsers.clone())
        .layer(middleware::from_fn_with_state(
            Templates::new(templates),
            observe::observe,
        ))
        .with_state(Arc::new(surface))
}

async fn not_found(uri: Uri) -> Problem {
    Problem::no_such_path(uri.path())
}

async fn method_not_allowed(method: Method, request: Request) -> axum::response::Response {
    Problem::method_not_allowed(&method, request.uri().path()).into_response()
}
