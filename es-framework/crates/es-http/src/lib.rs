//! The HTTP API of an application: commands, queries, health, and the operator API.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

mod actuator_paths;
pub mod asyncapi;
#[doc(hidden)]
pub mod auth;
mod caller_shares;
mod command;
mod context;
mod custom;
mod docs;
mod entity_tag;
mod event_position;
mod headers;
pub mod health;
mod limits;
mod lines;
mod live;
mod media_type;
mod metrics;
mod occurred_at;
pub mod openapi;
pub mod operator;
mod operator_paths;
mod output_id;
mod path;
mod problem;
mod query;
mod query_response;
mod query_route;
mod request_metrics;
mod subcommand;
#[cfg(test)]
mod test_fixture;
#[cfg(test)]
mod tests;

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderName, Method, Uri},
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
    routing::{MethodRouter, get},
};
use es_catalog::Catalog;
use es_command::command::{CommandDescriptor, CommandResources};
use es_event::Result;
use es_net::ApiToken;
use es_personal::PersonalData;
use es_read::{projection::Database, query::QueryRoute};
use es_subscribe::{ProgressRegistry, operator::OperatorClient};
use tower::util::option_layer;

use auth::{Auth, ClientRateLimiter, PublicRoutes};
use caller_shares::CallerShares;
pub use custom::CustomRoutes;
pub use headers::{AllowedOrigins, BrowserPolicy};
use health::Health;
use limits::EnforcedLimits;
pub use live::LiveQueries;
use operator_paths::{CONSOLE, OperatorPaths};
pub use problem::Problem;
use request_metrics::RouteTemplates;
pub use subcommand::{add_subcommands, run_subcommand};

/// The limits on the size and the duration of a request, and on the number of requests.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct RequestLimits {
    /// Longest body, in bytes.
    pub body_size: usize,
    /// Time that a client has to send a body.
    pub body_time: Duration,
    /// Size of all headers together, in bytes.
    pub headers_size: usize,
    /// Number of headers.
    pub header_count: usize,
    /// Number of commands and queries that may run at once.
    pub requests: usize,
    /// The part, in percent, that one caller may use at once of the queries, the live queries and the expensive
    /// statements of the database.
    pub caller_share: u8,
    /// Time from the headers of a request to its response.
    pub request_time: Duration,
    /// Time that a query waits for the position in its `Event-Position` header.
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
            caller_share: 50,
            request_time: Duration::from_secs(60),
            position_wait: Duration::from_secs(5),
        }
    }
}

/// The shared state of all routes.
#[doc(hidden)]
#[derive(Debug)]
pub struct HttpContext {
    /// Handles commands, and provides queries with their services.
    pub command_resources: CommandResources,
    /// The database of the read models.
    pub database: Database,
    /// The positions of the read models.
    pub positions: ProgressRegistry,
    /// The health checks.
    pub health: Health,
    /// The open live queries.
    pub live: LiveQueries,
    /// The limits of requests.
    pub limits: RequestLimits,
    /// The authentication of callers.
    pub auth: Auth,
    /// The number of requests that each client may send in a second.
    pub rate: Option<NonZeroU32>,
    /// The number of requests without a credential to public routes that each address may send in a second.
    pub public_rate: NonZeroU32,
    /// The headers for browsers.
    pub browsers: BrowserPolicy,
    /// The request headers that are copied into the metadata of events.
    pub metadata_headers: Vec<HeaderName>,
    /// True if the name of the caller is copied into the metadata of events.
    pub metadata_caller: bool,
    /// Sends the commands of operators to the read models.
    pub read_models: OperatorClient,
    /// Sends the commands of operators to the reactions.
    pub reactions: OperatorClient,
    /// The credential of operators. Without it, nobody is an operator.
    pub operator_token: Option<ApiToken>,
    /// Finds and erases the personal data of persons, if events hold some.
    pub personal_data: Option<PersonalData>,
}

/// Returns the router of an application, with custom routes and layers.
///
/// # Errors
/// A custom route has the path of a declared one.
#[doc(hidden)]
pub async fn router(
    name: &str,
    catalog: &Catalog,
    context: HttpContext,
    custom: CustomRoutes<Arc<HttpContext>>,
    console: Option<Router>,
) -> Result<Router> {
    let document = openapi::document(name, catalog);
    let routes = routes(catalog, openapi::OpenApiDocument::new(&document));
    for route in &routes {
        custom
            .check_path_is_free(&route.template, &route.owner)
            .await?;
    }
    let operators = operator::routes(catalog.commands());
    for (path, _) in &operators {
        custom.check_path_is_free(path, FRAMEWORK).await?;
    }
    if console.is_some() {
        for path in [CONSOLE, "/console/{page}", "/console/{section}/{page}"] {
            custom.check_path_is_free(path, FRAMEWORK).await?;
        }
    }
    for path in docs::page_paths() {
        custom.check_path_is_free(path, FRAMEWORK).await?;
    }
    let is_root_free =
        routes.iter().all(|route| route.path != "/") && custom.find_route_path("/").await.is_none();
    let (custom, apply_layers) = custom.into_parts();
    Ok(assemble(
        routes,
        operators,
        context,
        custom,
        apply_layers,
        is_root_free,
        console,
    ))
}

/// Puts all routes behind the authentication, the limits and the log.
fn assemble(
    routes: Vec<MountedRoute>,
    operator_routes: Vec<(String, MethodRouter<Arc<HttpContext>>)>,
    context: HttpContext,
    custom: Router<Arc<HttpContext>>,
    apply_layers: impl FnOnce(Router<Arc<HttpContext>>) -> Router<Arc<HttpContext>>,
    is_root_free: bool,
    console: Option<Router>,
) -> Router {
    let mut callers = custom;
    let (mut templates, mut public) = (Vec::new(), Vec::new());
    for mounted in routes {
        public.extend(mounted.public.map(|method| (method, mounted.path.clone())));
        callers = callers.route(&mounted.path, mounted.route);
        templates.push((mounted.path, mounted.template));
    }
    callers = callers
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed);
    let rate = context.rate.map(ClientRateLimiter::per_second);
    let public = PublicRoutes::new(public, context.public_rate);
    callers = auth::with_authentication(callers, context.auth.clone(), rate.clone(), Some(public));
    // Not behind the authentication of callers: the event store's token authorizes operators.
    let mut operators = Router::new();
    let operator_paths = OperatorPaths::new(&operator_routes, console.is_some());
    for (path, route) in operator_routes {
        operators = operators.route(&path, route);
    }
    // The page itself holds nothing secret; its requests need the credential of its reader.
    let mut others = docs::add_routes(operators);
    if is_root_free {
        others = others.route("/", get(docs::redirect));
    }
    // The console knows operators by itself, because a browser opens pages without a header.
    if let Some(console) = console {
        others = others.merge(console.with_state(()));
    }
    others = others.method_not_allowed_fallback(method_not_allowed);
    others = auth::with_authentication(others, Auth::default(), rate, None);
    let router = apply_layers(callers.merge(others));
    let edge = OuterLayer {
        templates: RouteTemplates::new(templates),
        tls: context.browsers.tls,
    };
    let limits = EnforcedLimits::new(
        context.limits,
        context.browsers.local_hosts_only,
        CallerShares::new(&context),
    );
    let origins = context.browsers.origins.clone();
    let cors = origins.map(|origins| headers::cors_layer(origins, operator_paths));
    // The router allocates once for all of them, because they are one layer to it.
    let layers = (
        middleware::from_fn_with_state(edge, OuterLayer::handle),
        // Outside of the authentication: a browser's preflight request carries no credential.
        option_layer(cors),
        middleware::from_fn_with_state(limits, limits::enforce_limits),
    );
    router.layer(layers).with_state(Arc::new(context))
}

/// The outermost layer: logs and measures a request, and adds headers to its response. It is one
/// layer, since each layer costs time for each request.
#[derive(Debug, Clone)]
struct OuterLayer {
    templates: RouteTemplates,
    /// True if the service speaks TLS only.
    tls: bool,
}

impl OuterLayer {
    async fn handle(State(edge): State<Self>, request: Request, next: Next) -> Response {
        let mut answer = request_metrics::measure_request(&edge.templates, request, next).await;
        headers::add_security_headers(answer.headers_mut(), edge.tls);
        answer
    }
}

/// A route with its path.
struct MountedRoute {
    /// The path with the declared names of its parameters.
    template: String,
    path: String,
    /// The declaration that the route comes from, as the end of a sentence.
    owner: String,
    /// The method that needs no credential.
    public: Option<Method>,
    route: MethodRouter<Arc<HttpContext>>,
}

const FRAMEWORK: &str = "belongs to the framework";

impl MountedRoute {
    fn own(path: &str, route: MethodRouter<Arc<HttpContext>>) -> Self {
        Self {
            template: path.to_owned(),
            path: path.to_owned(),
            owner: FRAMEWORK.to_owned(),
            public: None,
            route,
        }
    }

    fn command(command: CommandDescriptor) -> Self {
        let (path, route) = command::route(command);
        Self {
            template: command.path.to_owned(),
            path,
            owner: format!(
                "the command {} declares at {}",
                command.name, command.declaration
            ),
            public: command.public.then_some(Method::POST),
            route,
        }
    }

    fn query(query: QueryRoute) -> Self {
        let template = query.path.clone();
        let owner = format!("a query declares at {}", query.declaration);
        let public = query.is_public().then_some(Method::GET);
        let (path, route) = query_route::route(query);
        Self {
            template,
            path,
            owner,
            public,
            route,
        }
    }
}

/// Returns the routes that the OpenAPI document describes, without those of operators.
fn routes(catalog: &Catalog, document: openapi::OpenApiDocument) -> Vec<MountedRoute> {
    let mut routes = vec![
        MountedRoute::own(actuator_paths::HEALTH, get(health::show_report)),
        MountedRoute::own(actuator_paths::LIVENESS, get(health::liveness)),
        MountedRoute::own(actuator_paths::READINESS, get(health::readiness)),
        MountedRoute::own(actuator_paths::INFO, get(health::info)),
        MountedRoute::own(metrics::PATH, get(metrics::show_metrics)),
        MountedRoute::own(openapi::PATH, get(async move || document.show())),
    ];
    let commands = catalog.commands().iter().copied();
    let posted = commands.filter(|command| !command.is_internal());
    routes.extend(posted.map(MountedRoute::command));
    let queries = catalog.queries().iter().cloned();
    routes.extend(queries.map(MountedRoute::query));
    routes
}

async fn not_found(uri: Uri) -> Problem {
    Problem::no_such_path(uri.path())
}

async fn method_not_allowed(method: Method, request: Request) -> Response {
    Problem::method_not_allowed(&method, request.uri().path()).into_response()
}
