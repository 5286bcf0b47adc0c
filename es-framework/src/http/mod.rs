//! The application's own HTTP surface: commands, queries, health.

pub mod auth;
mod command;
mod context;
pub(crate) mod docs;
mod event_position;
pub mod headers;
pub mod health;
mod lag;
mod limits;
mod live;
mod metrics;
mod observe;
pub(crate) mod openapi;
mod operators;
mod path;
mod problem;
pub(crate) mod projections;
mod query;
mod query_response;
mod query_route;
pub(crate) mod reactions;
pub mod settings;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderName, Method, Uri},
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
    routing::{MethodRouter, get},
};

use crate::{
    command::{Clock, CommandBus, CommandDescriptor, Registry},
    projection::{Database, Operator, Positions},
    query::QueryRoute,
    reaction,
    server::ApiToken,
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
///
/// ```
/// use std::time::Duration;
///
/// use es_framework::http::Surface;
///
/// /// For clients that would rather ask again than wait.
/// fn impatient(mut surface: Surface) -> Surface {
///     surface.limits.position_wait = Duration::from_millis(100);
///     surface
/// }
/// ```
#[derive(Debug)]
pub struct Surface {
    /// Carries commands to the store.
    pub bus: CommandBus,
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
    /// Takes what an operator asks of the read models.
    pub operator: Operator,
    /// Takes what an operator asks of the reactions.
    pub reactions: reaction::Operator,
    /// What an operator is known by; without it there is none.
    pub operator_token: Option<ApiToken>,
}

/// The router of the application of this name.
///
/// ```
/// use axum::{Router, routing::get};
/// use es_framework::{command::Registry, http::{self, Surface}};
///
/// /// The application's routes, and one of its own beside them.
/// fn routes(registry: &Registry, surface: Surface) -> Router {
///     let router = http::router("library-service", registry, vec![], surface);
///     router.route("/opening-hours", get(async || "10 to 18"))
/// }
/// ```
pub fn router(
    name: &str,
    registry: &Registry,
    queries: Vec<QueryRoute>,
    surface: Surface,
) -> Router {
    let document = openapi::document(name, registry, &queries);
    let mut router = Router::new();
    let mut templates = Vec::new();
    for mounted in routes(registry, queries, openapi::Served::new(&document)) {
        let Mounted {
            template,
            path,
            role,
            route,
        } = mounted;
        router = router.route(&path, surface.auth.require(role, route));
        templates.push((path, template));
    }
    let router = router
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed);
    let router = auth::guarded(router, surface.auth.clone(), surface.rate.clone());
    // Beside the guard: operators are known by the event store's token, as no other caller is.
    let mut operators = Router::new();
    for Mounted { path, route, .. } in operators::routes() {
        operators = operators.route(&path, route);
    }
    let router = router.merge(operators.method_not_allowed_fallback(method_not_allowed));
    // The page says nothing that not everybody may know; what it shows is asked for by its reader.
    let router = docs::routes(router);
    let is_root_free = templates.iter().all(|(path, _)| path != "/");
    let router = match is_root_free {
        true => router.route("/", get(docs::redirect)),
        false => router,
    };
    let router = router.layer(middleware::from_fn_with_state(
        Keeper::new(surface.limits),
        limits::keep,
    ));
    // Around the guard: a browser asks whether it may call before it sends who calls.
    let router = match surface.browsers.origins.clone() {
        Some(origins) => router.layer(headers::cors(origins)),
        None => router,
    };
    let edge = Edge {
        templates: Templates::new(templates),
        tls: surface.browsers.tls,
    };
    router
        .layer(middleware::from_fn_with_state(edge, Edge::pass))
        .with_state(Arc::new(surface))
}

/// What every request and every answer passes: one layer, since each has its price for each request.
#[derive(Debug, Clone)]
struct Edge {
    templates: Templates,
    /// Whether the service is reached by TLS alone.
    tls: bool,
}

impl Edge {
    async fn pass(State(edge): State<Self>, request: Request, next: Next) -> Response {
        let mut answer = observe::observe(&edge.templates, request, next).await;
        headers::secure(answer.headers_mut(), edge.tls);
        answer
    }
}

/// A route, and the path that it is mounted at.
struct Mounted {
    /// Its path as it was declared.
    template: String,
    path: String,
    /// What a caller has to be.
    role: Option<&'static str>,
    route: MethodRouter<Arc<Surface>>,
}

impl Mounted {
    fn own(path: &str, route: MethodRouter<Arc<Surface>>) -> Self {
        Self {
            template: path.to_owned(),
            path: path.to_owned(),
            role: None,
            route,
        }
    }

    fn command(command: CommandDescriptor) -> Self {
        let (path, route) = command::route(command);
        Self {
            template: command.path.to_owned(),
            path,
            role: command.role,
            route,
        }
    }

    fn query(query: QueryRoute) -> Self {
        let (template, role) = (query.path.clone(), query.role());
        let (path, route) = query_route::route(query);
        Self {
            template,
            path,
            role,
            route,
        }
    }
}

/// All that is in the document of OpenAPI, and nothing else, besides what operators may ask.
fn routes(
    registry: &Registry,
    queries: Vec<QueryRoute>,
    document: openapi::Served,
) -> Vec<Mounted> {
    let mut routes = vec![
        Mounted::own(health::PATH, get(health::show)),
        Mounted::own(health::LIVENESS, get(health::liveness)),
        Mounted::own(health::READINESS, get(health::readiness)),
        Mounted::own(health::INFO, get(health::info)),
        Mounted::own(metrics::PATH, get(metrics::show)),
        Mounted::own(openapi::PATH, get(async move || document.show())),
    ];
    let commands = registry.commands().iter().copied();
    let posted = commands.filter(|command| !command.is_internal());
    routes.extend(posted.map(Mounted::command));
    routes.extend(queries.into_iter().map(Mounted::query));
    routes
}

async fn not_found(uri: Uri) -> Problem {
    Problem::no_such_path(uri.path())
}

async fn method_not_allowed(method: Method, request: Request) -> Response {
    Problem::method_not_allowed(&method, request.uri().path()).into_response()
}
