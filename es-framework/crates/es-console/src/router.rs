//! The routes of the console.

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::{DefaultBodyLimit, Path, State},
    http::{HeaderMap, StatusCode, Uri, request::Parts},
    middleware,
    response::{IntoResponse as _, Redirect, Response},
    routing::{get, post},
};

use bytes::Bytes;
use es_runtime::operator::ComponentKind;

use crate::{
    access::{self, FORM_SIZE},
    assets, command_form, command_list, component_list,
    console::{Console, ConsoleLimits, ConsoleState},
    event_details, event_list, event_live,
    layout::Visitor,
    model_view,
    notice::Notice,
    operator_action::OperatorAction,
    overview, row_list, state_view, subject_list, subject_timeline,
};

/// The path of the console.
#[doc(hidden)]
pub const PATH: &str = "/console";

/// Returns the routes of the console.
#[doc(hidden)]
pub fn router(console: Console) -> Router {
    let state = ConsoleState {
        console: Arc::new(console),
        limits: ConsoleLimits::default(),
    };
    // A form encodes a byte as up to three.
    let command_size = state.console.command_size.saturating_mul(3);
    let command_limit = DefaultBodyLimit::max(command_size.saturating_add(FORM_SIZE));
    let guard = middleware::from_fn_with_state(state.clone(), access::require_access);
    let guarded = Router::new()
        .route("/console", get(show_events))
        .route("/console/events/live", get(stream_events))
        .route("/console/events/{id}", get(show_event))
        .route("/console/subjects", get(show_root))
        .route("/console/subjects/", get(show_root))
        .route("/console/subjects/{*subject}", get(show_subject))
        .route("/console/states/{name}", get(show_state))
        .route("/console/overview", get(show_overview))
        .route(command_list::PATH, get(show_commands))
        .route(
            "/console/commands/{name}",
            get(show_command).post(try_command).layer(command_limit),
        )
        .route("/console/read-models", get(show_read_models))
        .route("/console/rows/{name}", get(show_rows))
        .route("/console/reactions", get(show_reactions))
        .route("/console/model", get(show_model))
        .route(
            "/console/read-models/{name}/{command}",
            get(show_action::<true>).post(execute_action::<true>),
        )
        .route(
            "/console/reactions/{name}/{command}",
            get(show_action::<false>).post(execute_action::<false>),
        )
        .route("/console/sign-out", post(access::sign_out))
        .route_layer(guard);
    let open = Router::new()
        .route("/console/", get(async || Redirect::permanent(PATH)))
        .route(
            "/console/sign-in",
            get(access::show_sign_in).post(access::sign_in),
        );
    let router = guarded.merge(open).with_state(state);
    assets::routes(router).layer(DefaultBodyLimit::max(FORM_SIZE))
}

/// Builds a page while it holds one of the permits for pages.
async fn build_page(
    state: &ConsoleState,
    visitor: &Visitor,
    page: impl Future<Output = Result<Response, Notice>>,
) -> Response {
    let name = state.console.name;
    let Some(_permit) = state.limits.acquire_page().await else {
        return Notice::busy().respond(name, visitor);
    };
    page.await
        .unwrap_or_else(|notice| notice.respond(name, visitor))
}

async fn show_events(
    State(state): State<ConsoleState>,
    Extension(visitor): Extension<Visitor>,
    address: Uri,
) -> Response {
    let query = address.query().unwrap_or_default();
    let page = event_list::show(&state.console, &visitor, query);
    build_page(&state, &visitor, page).await
}

async fn show_event(
    State(state): State<ConsoleState>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
) -> Response {
    let page = event_details::show(&state.console, &visitor, &id);
    build_page(&state, &visitor, page).await
}

async fn show_root(
    state: State<ConsoleState>,
    visitor: Extension<Visitor>,
    address: Uri,
) -> Response {
    show_subject(state, visitor, Path(String::new()), address).await
}

async fn show_subject(
    State(state): State<ConsoleState>,
    Extension(visitor): Extension<Visitor>,
    Path(subject): Path<String>,
    address: Uri,
) -> Response {
    let (console, query) = (&state.console, address.query().unwrap_or_default());
    let page = async {
        let subject = format!("/{subject}").parse();
        let subject = subject
            .map_err(|error: es_event::InvalidSubject| Notice::invalid(error.to_string()))?;
        let children = subject_list::children(console, &subject, query).await?;
        subject_timeline::show(console, &visitor, subject, children, query).await
    };
    build_page(&state, &visitor, page).await
}

async fn show_state(
    State(state): State<ConsoleState>,
    Extension(visitor): Extension<Visitor>,
    Path(name): Path<String>,
    address: Uri,
) -> Response {
    let query = address.query().unwrap_or_default();
    let page = state_view::show(&state.console, &visitor, &name, query);
    build_page(&state, &visitor, page).await
}

async fn show_overview(
    State(state): State<ConsoleState>,
    Extension(visitor): Extension<Visitor>,
) -> Response {
    let page = overview::show(&state.console, &visitor);
    build_page(&state, &visitor, page).await
}

async fn show_read_models(
    State(state): State<ConsoleState>,
    Extension(visitor): Extension<Visitor>,
) -> Response {
    let page = component_list::show(&state.console, &visitor, ComponentKind::ReadModel);
    build_page(&state, &visitor, page).await
}

async fn show_reactions(
    State(state): State<ConsoleState>,
    Extension(visitor): Extension<Visitor>,
) -> Response {
    let page = component_list::show(&state.console, &visitor, ComponentKind::Reaction);
    build_page(&state, &visitor, page).await
}

async fn show_model(
    State(state): State<ConsoleState>,
    Extension(visitor): Extension<Visitor>,
    address: Uri,
) -> Response {
    let query = address.query().unwrap_or_default();
    let page = async { model_view::show(&state.console, &visitor, query) };
    build_page(&state, &visitor, page).await
}

async fn show_commands(
    State(state): State<ConsoleState>,
    Extension(visitor): Extension<Visitor>,
    address: Uri,
) -> Response {
    let query = address.query().unwrap_or_default();
    let page = async { command_list::show(&state.console, &visitor, query) };
    build_page(&state, &visitor, page).await
}

async fn show_command(
    State(state): State<ConsoleState>,
    Extension(visitor): Extension<Visitor>,
    Path(name): Path<String>,
    address: Uri,
) -> Response {
    let query = address.query().unwrap_or_default();
    let page = async { command_form::show(&state.console, &visitor, &name, query) };
    build_page(&state, &visitor, page).await
}

/// Makes a dry run. It has the limits of commands instead of a permit for pages, because slow dry runs would
/// keep everyone from the pages.
async fn try_command(
    State(state): State<ConsoleState>,
    Extension(visitor): Extension<Visitor>,
    Path(name): Path<String>,
    request: Parts,
    body: Bytes,
) -> Response {
    let console = &state.console;
    let page = command_form::execute(console, &visitor, &name, &request, &body).await;
    page.unwrap_or_else(|notice| notice.respond(console.name, &visitor))
}

async fn show_rows(
    State(state): State<ConsoleState>,
    Extension(visitor): Extension<Visitor>,
    Path(name): Path<String>,
    address: Uri,
) -> Response {
    let query = address.query().unwrap_or_default();
    let page = row_list::show(&state.console, &visitor, &name, query);
    build_page(&state, &visitor, page).await
}

/// Returns the kind of component that a route is for.
const fn component_kind(is_read_model: bool) -> ComponentKind {
    match is_read_model {
        true => ComponentKind::ReadModel,
        false => ComponentKind::Reaction,
    }
}

async fn show_action<const IS_READ_MODEL: bool>(
    State(state): State<ConsoleState>,
    Extension(visitor): Extension<Visitor>,
    Path((name, command)): Path<(String, String)>,
) -> Response {
    let console = &state.console;
    let kind = component_kind(IS_READ_MODEL);
    match OperatorAction::find(console, kind, &name, &command) {
        Ok(action) => action.show(console, &visitor),
        Err(notice) => notice.respond(console.name, &visitor),
    }
}

async fn execute_action<const IS_READ_MODEL: bool>(
    State(state): State<ConsoleState>,
    Extension(visitor): Extension<Visitor>,
    Path((name, command)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let console = &state.console;
    let kind = component_kind(IS_READ_MODEL);
    let page = async {
        let action = OperatorAction::find(console, kind, &name, &command)?;
        action.execute(console, &visitor, &headers, &body).await
    };
    build_page(&state, &visitor, page).await
}

async fn stream_events(
    State(state): State<ConsoleState>,
    headers: HeaderMap,
    address: Uri,
) -> Response {
    let Some(permit) = state.limits.acquire_stream() else {
        let text = "Too many event streams are open. Close another page of the console.";
        return (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
    };
    let query = address.query().unwrap_or_default();
    event_live::respond(state.console, permit, &headers, query)
}
