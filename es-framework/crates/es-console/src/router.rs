//! The routes of the console.

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::{DefaultBodyLimit, FromRequestParts, Path, State, rejection::ExtensionRejection},
    http::{HeaderMap, StatusCode, Uri, request::Parts},
    middleware,
    response::{IntoResponse as _, Redirect, Response},
    routing::{get, post},
};

use bytes::Bytes;
use es_eventql::MAX_LENGTH;
use es_subscribe::operator::ComponentKind;

use crate::{
    access::{self, FORM_SIZE},
    assets, command_list, component_list,
    console::{Console, ConsolePermits, ConsoleState},
    credential_limiter::CredentialLimiter,
    event_details, event_list, event_live, eventql_editor,
    layout::Visitor,
    model_view,
    notice::NoticePage,
    operator_action::{OperatorAction, list_path},
    overview, people,
    query_values::QueryValues,
    row_list,
    session::Sessions,
    state_view, subject_list, subject_timeline,
};

/// The path of the console.
#[doc(hidden)]
pub const PATH: &str = "/console";
/// The path of the link to the console of an open application.
const LINK_PATH: &str = "/console/open";

/// The component and its command in a path.
type ActionPath = Path<(String, String)>;

/// Returns the routes of the console.
#[doc(hidden)]
pub fn router(console: Console) -> Router {
    let log = console.session_log.clone();
    let sessions = Sessions::new(console.operator_token.as_ref(), console.is_tls, log);
    let state = ConsoleState {
        console: Arc::new(console),
        sessions: Arc::new(sessions),
        credentials: CredentialLimiter::default(),
        permits: ConsolePermits::default(),
    };
    // A form encodes a byte as up to three.
    let query_limit = MAX_LENGTH.saturating_mul(3).saturating_add(FORM_SIZE);
    let query_limit = DefaultBodyLimit::max(query_limit);
    let guard = middleware::from_fn_with_state(state.clone(), access::require_access);
    let guarded = Router::new()
        .route("/console", get(show_events))
        .route("/console/events/live", get(stream_events))
        .route("/console/events/{id}", get(show_event))
        .route("/console/events/{id}/data", get(show_event_data))
        .route("/console/subjects", get(show_root))
        .route("/console/subjects/", get(show_root))
        .route("/console/subjects/{*subject}", get(show_subject))
        .route("/console/states/{name}", get(show_state))
        .route("/console/overview", get(show_overview))
        .route(command_list::PATH, get(show_commands))
        .route(
            eventql_editor::PATH,
            get(show_editor).post(run_query).layer(query_limit),
        )
        .route("/console/rows/{name}", get(show_rows))
        .route("/console/rows/{name}/{position}", get(show_row))
        .route("/console/model", get(show_model))
        .route(people::PATH, get(show_person))
        .route("/console/people/export", get(export_person))
        .route(
            "/console/people/erase",
            get(confirm_erasure).post(erase_person),
        )
        .route("/console/people/verify", post(verify_person))
        .route("/console/sign-out", post(access::sign_out));
    let guarded = [ComponentKind::ReadModel, ComponentKind::Reaction]
        .into_iter()
        .fold(guarded, component_routes)
        .route_layer(guard);
    let open = Router::new()
        .route("/console/", get(async || Redirect::permanent(PATH)))
        .route(LINK_PATH, get(access::open_by_link))
        .route(
            "/console/sign-in",
            get(access::show_sign_in).post(access::sign_in),
        );
    let router = guarded.merge(open).with_state(state);
    assets::routes(router).layer(DefaultBodyLimit::max(FORM_SIZE))
}

/// A request for a page. The reader has passed the guard.
struct PageRequest {
    state: ConsoleState,
    visitor: Visitor,
    address: Uri,
}

impl FromRequestParts<ConsoleState> for PageRequest {
    type Rejection = ExtensionRejection;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &ConsoleState,
    ) -> Result<Self, ExtensionRejection> {
        let Extension(visitor) = Extension::from_request_parts(parts, state).await?;
        Ok(Self {
            state: state.clone(),
            visitor,
            address: parts.uri.clone(),
        })
    }
}

impl PageRequest {
    fn console(&self) -> &Console {
        &self.state.console
    }

    fn query(&self) -> &str {
        self.address.query().unwrap_or_default()
    }

    /// Responds with a page that is built while it holds one of the permits for pages.
    async fn respond(&self, page: impl Future<Output = Result<Response, NoticePage>>) -> Response {
        let Some(_permit) = self.state.permits.acquire_page().await else {
            return NoticePage::busy().respond(self.console().name, &self.visitor);
        };
        self.respond_with(page.await)
    }

    /// Responds with a page, or with the notice instead of it.
    fn respond_with(&self, page: Result<Response, NoticePage>) -> Response {
        page.unwrap_or_else(|notice| notice.respond(self.console().name, &self.visitor))
    }
}

async fn show_events(request: PageRequest) -> Response {
    let page = event_list::show_event_list(request.console(), &request.visitor, request.query());
    request.respond(page).await
}

async fn show_event(request: PageRequest, Path(id): Path<String>) -> Response {
    let page = event_details::show_event_details(request.console(), &request.visitor, &id);
    request.respond(page).await
}

async fn show_event_data(request: PageRequest, Path(id): Path<String>) -> Response {
    let data = event_details::show_event_data(request.console(), &id);
    request.respond(data).await
}

async fn show_root(request: PageRequest) -> Response {
    show_subject(request, Path(String::new())).await
}

async fn show_subject(request: PageRequest, Path(subject): Path<String>) -> Response {
    let (console, query) = (request.console(), request.query());
    let page = async {
        let subject = format!("/{subject}").parse();
        let subject = subject.map_err(|error: es_event::InvalidSubject| {
            NoticePage::invalid_input(error.to_string())
        })?;
        let children = subject_list::children(console, &subject, query).await?;
        subject_timeline::show_subject_timeline(console, &request.visitor, subject, children, query)
            .await
    };
    request.respond(page).await
}

async fn show_state(request: PageRequest, Path(name): Path<String>) -> Response {
    let page = state_view::show_state(request.console(), &request.visitor, &name, request.query());
    request.respond(page).await
}

async fn show_overview(request: PageRequest) -> Response {
    let page = overview::show_overview(request.console(), &request.visitor);
    request.respond(page).await
}

async fn show_components(request: PageRequest, kind: ComponentKind) -> Response {
    let page = component_list::show_component_list(request.console(), &request.visitor, kind);
    request.respond(page).await
}

async fn show_model(request: PageRequest) -> Response {
    let page =
        async { model_view::show_model_view(request.console(), &request.visitor, request.query()) };
    request.respond(page).await
}

async fn show_person(request: PageRequest) -> Response {
    let page = people::show_person(request.console(), &request.visitor, request.query());
    request.respond(page).await
}

async fn export_person(request: PageRequest) -> Response {
    let export = people::export_person(request.console(), &request.visitor, request.query());
    request.respond(export).await
}

async fn confirm_erasure(request: PageRequest) -> Response {
    let page = people::confirm_erasure(request.console(), &request.visitor, request.query());
    request.respond(page).await
}

async fn erase_person(request: PageRequest, headers: HeaderMap, body: Bytes) -> Response {
    let page = people::erase_person(&request.state, &request.visitor, &headers, &body);
    request.respond(page).await
}

async fn verify_person(request: PageRequest, headers: HeaderMap, body: Bytes) -> Response {
    let page = people::verify_person(&request.state, &request.visitor, &headers, &body);
    request.respond(page).await
}

async fn show_commands(request: PageRequest) -> Response {
    let page = async {
        command_list::show_command_list(request.console(), &request.visitor, request.query())
    };
    request.respond(page).await
}

async fn show_editor(request: PageRequest) -> Response {
    let page = async {
        Ok(eventql_editor::show_eventql_editor(
            request.console(),
            &request.visitor,
        ))
    };
    request.respond(page).await
}

/// Runs an EventQL query. Queries have permits of their own, because they may run longer than pages.
async fn run_query(request: PageRequest, parts: Parts, body: Bytes) -> Response {
    let (state, visitor) = (&request.state, &request.visitor);
    request.respond_with(eventql_editor::run_query(state, visitor, &parts, &body).await)
}

async fn show_rows(request: PageRequest, Path(name): Path<String>) -> Response {
    let page = row_list::show_row_list(request.console(), &request.visitor, &name, request.query());
    request.respond(page).await
}

async fn show_row(
    request: PageRequest,
    Path((name, position)): Path<(String, String)>,
) -> Response {
    let row = row_list::show_row(request.console(), &name, &position);
    request.respond(row).await
}

async fn show_action(request: PageRequest, kind: ComponentKind, path: ActionPath) -> Response {
    let Path((name, command)) = path;
    let console = request.console();
    let action = OperatorAction::find_by_path(console, kind, &name, &command);
    let visitor = &request.visitor;
    let selected = QueryValues::parse(request.query());
    let page = action.map(|action| action.show_confirmation(console, visitor, &selected));
    request.respond_with(page)
}

async fn execute_action(
    request: PageRequest,
    kind: ComponentKind,
    path: ActionPath,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Path((name, command)) = path;
    let console = request.console();
    let page = async {
        let action = OperatorAction::find_by_path(console, kind, &name, &command)?;
        let visitor = &request.visitor;
        action
            .send_to_component(&request.state, visitor, &headers, &body)
            .await
    };
    request.respond(page).await
}

/// Adds the routes for all read models or for all reactions. One shows their list. The others show and execute
/// the commands of operators.
fn component_routes(router: Router<ConsoleState>, kind: ComponentKind) -> Router<ConsoleState> {
    let path = list_path(kind);
    let list = move |request| show_components(request, kind);
    let show = move |request, path| show_action(request, kind, path);
    let execute =
        move |request, path, headers, body| execute_action(request, kind, path, headers, body);
    router.route(path, get(list)).route(
        &format!("{path}/{{name}}/{{command}}"),
        get(show).post(execute),
    )
}

async fn stream_events(
    State(state): State<ConsoleState>,
    headers: HeaderMap,
    address: Uri,
) -> Response {
    let Some(permit) = state.permits.acquire_stream() else {
        let text = "Too many event streams are open. Close another page of the console.";
        return (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
    };
    let query = address.query().unwrap_or_default();
    event_live::stream_events(state.console, permit, &headers, query)
}
