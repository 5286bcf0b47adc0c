//! The route of dry runs: an operator learns what a command would do, now or in the past. Nothing is written.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::{
        Path, Query, Request, State,
        rejection::{PathRejection, QueryRejection},
    },
    http::HeaderMap,
    response::{IntoResponse as _, Response},
    routing::{MethodRouter, post},
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::authorization::RequireOperator;
use crate::{
    command::{CommandDescriptor, CommandError, CommandRequest, DryRun, NewEvent},
    event::{EventId, InvalidEventId},
    http::{
        HttpContext, Problem,
        command::{check_content_type, read_body},
        context,
        limits::ConcurrencyLimit,
        problem::kind,
    },
    net::PeerAddress,
    store::newest_id,
};

/// The path of dry runs.
pub(super) const PATH: &str = "/actuator/commands/{name}/dry-run";
/// The name of the query parameter with the last event of the past.
pub(super) const AT: &str = "at";

/// The parameters in the query of the address.
type QueryPairs = Query<Vec<(String, String)>>;

/// The response to a dry run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DryRunResponse<'a> {
    command: &'a str,
    /// The last event that the states contain.
    at: Option<String>,
    accepted: bool,
    subject: Option<&'a str>,
    events: Vec<EventResponse<'a>>,
    reply: Option<&'a RawValue>,
    /// The problem that the sender of the command would get.
    problem: Option<Box<RawValue>>,
}

/// An event that the command would append.
#[derive(Serialize)]
struct EventResponse<'a> {
    subject: &'a str,
    r#type: &'a str,
    data: &'a RawValue,
}

/// Returns the route of dry runs of these commands.
pub(super) fn route(commands: &[CommandDescriptor]) -> (String, MethodRouter<Arc<HttpContext>>) {
    let commands: Arc<[CommandDescriptor]> = commands.into();
    let handle = async move |_: RequireOperator,
                             State(context): State<Arc<HttpContext>>,
                             Extension(gate): Extension<ConcurrencyLimit>,
                             peer: Option<Extension<PeerAddress>>,
                             name: Result<Path<String>, PathRejection>,
                             parameters: Result<QueryPairs, QueryRejection>,
                             request: Request| {
        let command = find_command(&commands, name)?;
        check_content_type(request.headers())?;
        let (parts, body) = request.into_parts();
        let body = read_body(body, context.limits).await?;
        let _place = gate.acquire()?;
        let at = position(&context, parameters).await?;
        let peer = peer.map(|Extension(peer)| peer.0.to_string());
        tracing::info!(
            command = command.name,
            at = at.map(EventId::get),
            peer,
            "an operator made a dry run of a command"
        );
        let run = run(&context, command, &body, &parts.headers, at);
        // A tenth earlier than the limit of all requests, whose problem says that the outcome is unknown.
        let time = context.limits.request_time;
        let time = time.saturating_sub(time.checked_div(10).unwrap_or_default());
        let response = tokio::time::timeout(time, run).await;
        response.unwrap_or_else(|_| Err(Problem::took_too_long(time)))
    };
    (PATH.to_owned(), post(handle))
}

fn find_command(
    commands: &[CommandDescriptor],
    name: Result<Path<String>, PathRejection>,
) -> Result<&CommandDescriptor, Problem> {
    let Ok(Path(name)) = name else {
        let detail = "the name in the path is no UTF-8 text";
        return Err(Problem::new(kind::NOT_FOUND, detail));
    };
    let command = commands.iter().find(|command| command.name == name);
    command.ok_or_else(|| {
        let name: String = name.chars().take(200).collect();
        let detail = format!("the application has no command {name}");
        Problem::new(kind::NOT_FOUND, detail)
    })
}

/// Returns the last event that the dry run takes into account: the one in the query, or the newest.
async fn position(
    context: &HttpContext,
    parameters: Result<QueryPairs, QueryRejection>,
) -> Result<Option<EventId>, Problem> {
    let Query(parameters) =
        parameters.map_err(|error| Problem::new(kind::INVALID_PARAMETER, error.body_text()))?;
    let mut at = None;
    for (name, value) in parameters {
        if name != AT || at.is_some() {
            let detail = format!("the only parameter is {AT}, once");
            return Err(Problem::new(kind::INVALID_PARAMETER, detail));
        }
        let id: EventId = value.parse().map_err(|error: InvalidEventId| {
            let detail = format!("{AT}: {error}");
            Problem::new(kind::INVALID_PARAMETER, detail)
        })?;
        at = Some(id);
    }
    let newest = newest_id(&*context.health.store).await?;
    match at {
        None => Ok(newest),
        Some(at) if newest >= Some(at) => Ok(Some(at)),
        Some(at) => {
            let newest = newest.map_or("there is no event yet".to_owned(), |newest| {
                format!("the newest event is {newest}")
            });
            let detail = format!("{AT}: event {at} is not recorded; {newest}");
            Err(Problem::new(kind::INVALID_PARAMETER, detail))
        }
    }
}

/// Runs the command up to its decision. A rejection is a result, not an error.
async fn run(
    context: &HttpContext,
    command: &CommandDescriptor,
    body: &[u8],
    headers: &HeaderMap,
    at: Option<EventId>,
) -> Result<Response, Problem> {
    let command_context = context::read_command_context(headers, &context.metadata_headers)?;
    let request = CommandRequest {
        body,
        path_parameters: &[],
        context: &command_context,
    };
    let empty = DryRunResponse {
        command: command.name,
        at: at.map(|at| at.to_string()),
        accepted: false,
        subject: None,
        events: Vec::new(),
        reply: None,
        problem: None,
    };
    match (command.dry_run)(&context.bus, request, at).await {
        Ok(run) => Ok(Json(accepted(&run, empty)).into_response()),
        Err(error) if is_rejection(&error) => {
            let problem = RawValue::from_string(Problem::from(error).to_json());
            let problem = Some(problem.map_err(|error| Problem::internal(&error))?);
            Ok(Json(DryRunResponse { problem, ..empty }).into_response())
        }
        Err(error) => Err(error.into()),
    }
}

fn accepted<'a>(run: &'a DryRun, empty: DryRunResponse<'a>) -> DryRunResponse<'a> {
    let event = |event: &'a NewEvent| EventResponse {
        subject: event.subject.as_str(),
        r#type: event.event_type.as_str(),
        data: &event.data,
    };
    DryRunResponse {
        accepted: true,
        subject: Some(run.subject.as_str()),
        events: run.events.iter().map(event).collect(),
        reply: run.reply.as_deref(),
        ..empty
    }
}

/// Returns whether the framework or the handler rejects the command because of its values or of the states.
const fn is_rejection(error: &CommandError) -> bool {
    matches!(
        error,
        CommandError::Malformed(_)
            | CommandError::Invalid(_)
            | CommandError::AlreadyExists(_)
            | CommandError::NotFound(_)
            | CommandError::NotAsExpected { .. }
            | CommandError::Rejected(_)
    )
}
