//! The HTTP API of an application: commands, queries, health, and the operator API.

pub mod auth;
mod command;
mod context;
pub(crate) mod custom;
pub(crate) mod docs;
pub mod headers;
pub mod health;
mod lag;
mod limits;
mod live;
mod metrics;
mod observe;
pub(crate) mod openapi;
pub(crate) mod operator;
mod path;
mod problem;
mod query;
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
    command::{Bus, Clock, CommandDescriptor, Registry},
    operator::OperatorClient,
    projection::{Database, Positions},
    query::Route,
    server::ApiToken,
};

use auth::{Auth, RateLimit};
pub(crate) use custom::{CustomRoutes, RouteCollision};
use headers::BrowserPolicy;
use health::Health;
use limits::RequestLimiter;
pub use live::{LiveLimits, LiveQueries};
use observe::RouteTemplates;
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
/// use es_framework::http::HttpContext;
///
/// /// For clients that would rather ask again than wait.
/// fn impatient(mut context: HttpContext) -> HttpContext {
///     context.limits.position_wait = Duration::from_millis(100);
///     context
/// }
/// ```
#[derive(Debug)]
pub struct HttpContext {
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
    pub browsers: BrowserPolicy,
    /// The headers of a request that go into the metadata of its events.
    pub metadata_headers: Vec<HeaderName>,
    /// Whether the name of the caller does, too.
    pub metadata_caller: bool,
    /// Sends the commands of operators to the read models.
    pub read_models: OperatorClient,
    /// Sends the commands of operators to the reactions.
    pub reactions: OperatorClient,
    /// The credential of operators. Without it, nobody is an operator.
    pub operator_token: Option<ApiToken>,
}

/// The router of the application of this name.
///
/// ```
/// use axum::{Router, routing::get};
/// use es_framework::{command::Registry, http::{self, HttpContext}};
///
/// /// The application's routes, and one of its own beside them.
/// fn routes(registry: &Registry, context: HttpContext) -> Router {
///     let router = http::router("library-service", registry, vec![], context);
///     router.route("/opening-hours", get(async || "10 to 18"))
/// }
/// ```
pub fn router(
    name: &str,
    registry: &Registry,
    queries: Vec<Route>,
    context: HttpContext,
) -> Router {
    let document = openapi::document(name, registry, &queries);
    let routes = routes(registry, queries, openapi::OpenApiDocument::new(&document));
    let is_root_free = routes.iter().all(|route| route.path != "/");
    assemble(
        routes,
        context,
        Router::new(),
        |router| router,
        is_root_free,
    )
}

/// The routes of [`router`], and those that the application adds.
pub(crate) async fn router_with(
    name: &str,
    registry: &Registry,
    queries: Vec<Route>,
    context: HttpContext,
    custom: CustomRoutes<Arc<HttpContext>>,
) -> Result<Router, RouteCollision> {
    let document = openapi::document(name, registry, &queries);
    let routes = routes(registry, queries, openapi::OpenApiDocument::new(&document));
    for route in &routes {
        custom.check(&route.template, &route.owner).await?;
    }
    for (path, _) in operator::routes() {
        custom.check(&path, FRAMEWORK).await?;
    }
    for path in docs::paths() {
        custom.check(path, FRAMEWORK).await?;
    }
    let is_root_free = routes.iter().all(|route| route.path != "/");
    let is_root_free = is_root_free && custom.route_at("/").await.is_none();
    let (custom, apply_layers) = custom.into_parts();
    Ok(assemble(
        routes,
        context,
        custom,
        apply_layers,
        is_root_free,
    ))
}

/// Puts all routes behind the authentication, the limits and the log.
fn assemble(
    routes: Vec<MountedRoute>,
    context: HttpContext,
    custom: Router<Arc<HttpContext>>,
    apply_layers: impl FnOnce(Router<Arc<HttpContext>>) -> Router<Arc<HttpContext>>,
    is_root_free: bool,
) -> Router {
    let mut router = custom;
    let mut templates = Vec::new();
    for MountedRoute {
        template,
        path,
        role,
        route,
        ..
    } in routes
    {
        router = router.route(&path, context.auth.require(role, route));
        templates.push((path, template));
    }
    let router = router
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed);
    let router = auth::guarded(router, context.auth.clone(), context.rate.clone());
    // Not behind the authentication of callers: the event store's token authorizes operators.
    let mut operators = Router::new();
    for (path, route) in operator::routes() {
        operators = operators.route(&path, route);
    }
    let router = router.merge(operators.method_not_allowed_fallback(method_not_allowed));
    // The page itself holds nothing secret; its requests need the credential of its reader.
    let mut router = docs::routes(router);
    if is_root_free {
        router = router.route("/", get(docs::redirect));
    }
    let router = apply_layers(router);
    let router = router.layer(middleware::from_fn_with_state(
        RequestLimiter::new(context.limits),
        limits::enforce_limits,
    ));
    // Outside of the authentication: a browser's preflight request carries no credential.
    let router = match context.browsers.origins.clone() {
        Some(origins) => router.layer(headers::cors(origins)),
        None => router,
    };
    let edge = OuterLayer {
        templates: RouteTemplates::new(templates),
        tls: context.browsers.tls,
    };
    router
        .layer(middleware::from_fn_with_state(edge, OuterLayer::handle))
        .with_state(Arc::new(context))
}

/// What every request and every answer passes: one layer, since each has its price for each request.
#[derive(Debug, Clone)]
struct OuterLayer {
    templates: RouteTemplates,
    /// Whether the service is reached by TLS alone.
    tls: bool,
}

impl OuterLayer {
    async fn handle(State(edge): State<Self>, request: Request, next: Next) -> Response {
        let mut answer = observe::observe(&edge.templates, request, next).await;
        headers::secure(answer.headers_mut(), edge.tls);
        answer
    }
}

/// A route, and the path that it is mounted at.
struct MountedRoute {
    /// Its path as it was declared.
    template: String,
    path: String,
    /// What a caller has to be.
    role: Option<&'static str>,
    /// The declaration that the route comes from, as the end of a sentence.
    owner: String,
    route: MethodRouter<Arc<HttpContext>>,
}

const FRAMEWORK: &str = "belongs to the framework";

impl MountedRoute {
    fn own(path: &str, route: MethodRouter<Arc<HttpContext>>) -> Self {
        Self {
            template: path.to_owned(),
            path: path.to_owned(),
            role: None,
            owner: FRAMEWORK.to_owned(),
            route,
        }
    }

    fn command(command: CommandDescriptor) -> Self {
        let (path, route) = command::route(command);
        Self {
            template: command.path.to_owned(),
            path,
            role: command.role,
            owner: format!(
                "the command {} declares at {}",
                command.name, command.declaration
            ),
            route,
        }
    }

    fn query(query: Route) -> Self {
        let (template, role) = (query.path.clone(), query.role());
        let owner = format!("a query declares at {}", query.declaration);
        let (path, route) = query::route(query);
        Self {
            template,
            path,
            role,
            owner,
            route,
        }
    }
}

/// All that is in the document of OpenAPI, and nothing else, besides what operators may ask.
fn routes(registry: &Registry, queries: Vec<Route>, document: openapi::OpenApiDocument) -> Vec<MountedRoute> {
    let mut routes = vec![
        MountedRoute::own(health::PATH, get(health::show)),
        MountedRoute::own(health::LIVENESS, get(health::liveness)),
        MountedRoute::own(health::READINESS, get(health::readiness)),
        MountedRoute::own(health::INFO, get(health::info)),
        MountedRoute::own(metrics::PATH, get(metrics::show)),
        MountedRoute::own(openapi::PATH, get(async move || document.show())),
    ];
    let commands = registry.commands().iter().copied();
    let posted = commands.filter(|command| !command.is_internal());
    routes.extend(posted.map(MountedRoute::command));
    routes.extend(queries.into_iter().map(MountedRoute::query));
    routes
}

async fn not_found(uri: Uri) -> Problem {
    Problem::no_such_path(uri.path())
}

async fn method_not_allowed(method: Method, request: Request) -> Response {
    Problem::method_not_allowed(&method, request.uri().path()).into_response()
}
