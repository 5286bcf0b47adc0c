//! The routes of the console.

use std::sync::Arc;

use axum::{
    Router,
    extract::{DefaultBodyLimit, State},
    http::{HeaderMap, StatusCode, Uri},
    middleware,
    response::{IntoResponse as _, Redirect, Response},
    routing::{get, post},
};
use es_eventql::MAX_LENGTH;
use es_net::KeyedRateLimiter;
use es_subscribe::operator::ComponentKind;

use crate::{
    access::{self, CREDENTIALS_A_MINUTE, FORM_SIZE},
    assets, command_list, component_list,
    console::{Console, ConsolePermits, ConsoleState},
    event_details, event_list, event_live, eventql_editor, model_view,
    operator_action::{execute_action, list_path, show_action},
    overview, people, row_list,
    session::Sessions,
    state_view, subject_timeline,
};

/// The path of the console.
pub(crate) const PATH: &str = "/console";
/// The path of the link to the console of an open application.
const LINK_PATH: &str = "/console/open";

/// Returns the routes of the console.
pub fn router(console: Console) -> Router {
    let log = console.session_log.clone();
    let sessions = Sessions::new(console.operator_token.as_ref(), console.is_tls, log);
    let state = ConsoleState {
        console: Arc::new(console),
        sessions: Arc::new(sessions),
        credentials: KeyedRateLimiter::per_minute(CREDENTIALS_A_MINUTE),
        permits: ConsolePermits::default(),
    };
    // A form encodes a byte as up to three.
    let query_size = MAX_LENGTH.saturating_mul(3).saturating_add(FORM_SIZE);
    let query_limit = DefaultBodyLimit::max(query_size);
    let guard = middleware::from_fn_with_state(state.clone(), access::require_access);
    let pages = Router::new()
        .route("/console", get(event_list::show_event_list))
        .route("/console/events/live", get(stream_events))
        .route(
            "/console/events/{id}",
            get(event_details::show_event_details),
        )
        .route(
            "/console/events/{id}/data",
            get(event_details::show_event_data),
        )
        .route("/console/subjects", get(subject_timeline::show_root))
        .route("/console/subjects/", get(subject_timeline::show_root))
        .route(
            "/console/subjects/{*subject}",
            get(subject_timeline::show_subject_timeline),
        )
        .route("/console/states/{name}", get(state_view::show_state))
        .route("/console/overview", get(overview::show_overview))
        .route(command_list::PATH, get(command_list::show_command_list))
        .route(
            eventql_editor::PATH,
            get(eventql_editor::show_eventql_editor)
                .post(eventql_editor::run_query)
                .layer(query_limit),
        )
        .route("/console/rows/{name}", get(row_list::show_row_list))
        .route("/console/rows/{name}/{position}", get(row_list::show_row))
        .route("/console/model", get(model_view::show_model_view))
        .route(people::PATH, get(people::show_person))
        .route("/console/people/export", get(people::export_person))
        .route(
            "/console/people/erase",
            get(people::confirm_erasure).post(people::erase_person),
        )
        .route("/console/people/verify", post(people::verify_person))
        .route("/console/sign-out", post(access::sign_out));
    let guarded_pages = [ComponentKind::ReadModel, ComponentKind::Reaction]
        .into_iter()
        .fold(pages, component_routes)
        .route_layer(guard);
    let open = Router::new()
        .route("/console/", get(async || Redirect::permanent(PATH)))
        .route(LINK_PATH, get(access::open_by_link))
        .route(
            "/console/sign-in",
            get(access::show_sign_in).post(access::sign_in),
        );
    let router = guarded_pages.merge(open).with_state(state);
    assets::routes(router).layer(DefaultBodyLimit::max(FORM_SIZE))
}

/// Adds the routes for all read models or for all reactions. One shows their list. The others show and execute
/// the commands of operators.
fn component_routes(router: Router<ConsoleState>, kind: ComponentKind) -> Router<ConsoleState> {
    let path = list_path(kind);
    let list = move |page| component_list::show_component_list(page, kind);
    let show = move |path, page| show_action(path, page, kind);
    let execute = move |path, page| execute_action(path, page, kind);
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
