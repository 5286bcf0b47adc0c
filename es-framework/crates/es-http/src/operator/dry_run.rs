//! The route of dry runs: an operator learns what a command would do, now or in the past. Nothing is written.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::{Path, Query, Request, State, rejection::QueryRejection},
    response::{IntoResponse as _, Response},
    routing::{MethodRouter, post},
};
use es_command::command::{
    CommandDescriptor, CommandRequest, DryRun, DryRunError, DryRunRejection, NewEvent, dry_run,
};
use es_event::{Caller, EventId, InvalidEventId};
use es_net::PeerAddress;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};

use super::authorization::RequireOperator;
use crate::{
    HttpContext, Problem,
    command::{check_content_type, read_body},
    context,
    limits::ConcurrencyLimit,
    occurred_at,
    problem::kind,
};

/// The path of dry runs.
pub(crate) const PATH: &str = "/actuator/commands/{name}/dry-run";
/// The name of the query parameter with the last event of the past.
pub(crate) const AT: &str = "at";
/// The name of the query parameter with a role of the caller.
pub(crate) const ROLE: &str = "role";
/// The name of the query parameter with the owner id of the caller.
pub(crate) const OWNER: &str = "owner";

/// The parameters in the query of the address.
pub(super) type QueryPairs = Query<Vec<(String, String)>>;

/// The decision on a command.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DryRunReply")]
pub(crate) struct DryRunResponse {
    command: &'static str,
    /// The last event that the states contain, if there is an event.
    at: Option<String>,
    accepted: bool,
    /// The subject of an accepted command.
    subject: Option<String>,
    /// The events that the command would append.
    events: Vec<EventResponse>,
    /// The reply that the client would get.
    #[schemars(with = "Value")]
    reply: Option<Box<RawValue>>,
    /// The problem that the client of a rejected command would get.
    problem: Option<Problem>,
}

/// An event that the command would append.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DryRunEvent")]
struct EventResponse {
    subject: String,
    r#type: String,
    /// The payload and the metadata of the event.
    #[schemars(with = "Map<String, Value>")]
    data: Box<RawValue>,
}

impl From<DryRun> for DryRunResponse {
    fn from(run: DryRun) -> Self {
        let accepted = run.decision.is_ok();
        let (subject, events, reply, problem) = match run.decision {
            Ok(decision) => (
                Some(decision.subject.to_string()),
                decision.events,
                decision.reply,
                None,
            ),
            Err(rejection) => (None, Vec::new(), None, Some(rejection.into())),
        };
        Self {
            command: run.command.name,
            at: run.at.map(|at| at.to_string()),
            accepted,
            subject,
            events: events.into_iter().map(EventResponse::from).collect(),
            reply,
            problem,
        }
    }
}

impl From<NewEvent> for EventResponse {
    fn from(event: NewEvent) -> Self {
        Self {
            subject: event.subject.to_string(),
            r#type: event.event_type.to_string(),
            data: event.data,
        }
    }
}

/// Returns the route of dry runs of these commands.
pub(super) fn route(commands: &[CommandDescriptor]) -> (String, MethodRouter<Arc<HttpContext>>) {
    let commands: Arc<[CommandDescriptor]> = commands.into();
    let handle = async move |_: RequireOperator,
                             State(context): State<Arc<HttpContext>>,
                             Extension(limit): Extension<ConcurrencyLimit>,
                             Path(name): Path<String>,
                             parameters: Result<QueryPairs, QueryRejection>,
                             request: Request| {
        let command = commands
            .iter()
            .find(|command| command.name == name)
            .ok_or_else(|| no_such_command(&name))?;
        check_content_type(request.headers())?;
        let (at, caller) = read_parameters(parameters)?;
        decide_command(&context, &limit, command, at, caller, request).await
    };
    (PATH.to_owned(), post(handle))
}

fn no_such_command(name: &str) -> Problem {
    let name: String = name.chars().take(200).collect();
    let detail = format!("the application has no command {name}");
    Problem::new(kind::NOT_FOUND, detail)
}

/// Reads the last event of the past, and the caller as whom the command is decided, from the query.
fn read_parameters(
    parameters: Result<QueryPairs, QueryRejection>,
) -> Result<(Option<EventId>, Caller), Problem> {
    let Query(parameters) =
        parameters.map_err(|error| Problem::new(kind::INVALID_PARAMETER, error.body_text()))?;
    let (mut at, mut roles, mut owner) = (None, Vec::new(), None);
    for (name, value) in parameters {
        match name.as_str() {
            AT if at.is_none() => {
                let event = value.parse();
                at = Some(event.map_err(|error: InvalidEventId| invalid_position(&error))?);
            }
            OWNER if owner.is_none() => owner = Some(value),
            ROLE => roles.push(value),
            _ => {
                let detail = format!("the parameters are {AT} and {OWNER}, once, and {ROLE}");
                return Err(Problem::new(kind::INVALID_PARAMETER, detail));
            }
        }
    }
    let roles = roles.iter().map(String::as_str);
    Ok((at, Caller::assumed(roles, owner.as_deref())))
}

/// Decides on a command that a caller sends, as of an event, or as of now. The answer to a rejection has the problem that
/// the caller would get.
async fn decide_command(
    http: &HttpContext,
    limit: &ConcurrencyLimit,
    command: &CommandDescriptor,
    at: Option<EventId>,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let body = read_body(body, http.limits).await?;
    let _permit = limit.try_acquire()?;
    let peer = parts.extensions.get::<PeerAddress>();
    tracing::info!(
        command = command.name,
        at = at.map(EventId::get),
        peer = peer.map(|peer| peer.0.to_string()),
        "an operator made a dry run of a command"
    );
    let mut context = context::read_command_context(&parts.headers, &http.metadata_headers)?;
    context.caller = caller;
    let resources = &http.command_resources;
    occurred_at::read_header(&mut context, &parts.headers, command, resources)?;
    let request = CommandRequest {
        body: &body,
        path_parameters: &[],
        context: &context,
    };
    let deciding = dry_run(&http.command_resources, command, request, at);
    // A tenth earlier than the limit of all requests, whose problem says that the outcome is unknown.
    let longest = http.limits.request_time;
    let time = longest.saturating_sub(longest.checked_div(10).unwrap_or_default());
    let ended = tokio::time::timeout(time, deciding).await;
    let run = ended.map_err(|_| Problem::took_too_long(time))??;
    Ok(Json(DryRunResponse::from(run)).into_response())
}

impl From<DryRunError> for Problem {
    fn from(error: DryRunError) -> Self {
        match error {
            DryRunError::NoSuchEvent { .. } => invalid_position(&error),
            DryRunError::Command(error) => error.into(),
        }
    }
}

impl From<DryRunRejection> for Problem {
    fn from(rejection: DryRunRejection) -> Self {
        match rejection {
            DryRunRejection::MissingRole(roles) => Self::missing_role(roles),
            DryRunRejection::Command(error) => error.into(),
        }
    }
}

fn invalid_position(error: &dyn std::error::Error) -> Problem {
    Problem::new(kind::INVALID_PARAMETER, format!("{AT}: {error}"))
}
