//! The route of dry runs: an operator learns what a command would do, now or in the past. Nothing is written.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, Query, Request, State, rejection::QueryRejection},
    response::IntoResponse as _,
    routing::{MethodRouter, post},
};
use es_command::command::{CommandDescriptor, DryRun, NewEvent};
use es_event::Caller;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};

use super::{
    authorization::RequireOperator,
    dry_runner::{AT, DryRunner, OWNER, ROLE},
};
use crate::{
    HttpContext, Problem,
    command::{check_content_type, read_body},
    problem::kind,
};

/// The path of dry runs.
pub(crate) const PATH: &str = "/actuator/commands/{name}/dry-run";

/// The parameters in the query of the address.
type QueryPairs = Query<Vec<(String, String)>>;

/// The decision on a command.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DryRunReply")]
pub(crate) struct DryRunResponse<'a> {
    command: &'static str,
    /// The last event that the states contain, if there is an event.
    at: Option<String>,
    accepted: bool,
    /// The subject of an accepted command.
    subject: Option<&'a str>,
    /// The events that the command would append.
    events: Vec<EventResponse<'a>>,
    /// The reply that the client would get.
    #[schemars(with = "Value")]
    reply: Option<&'a RawValue>,
    /// The problem that the client of a rejected command would get.
    problem: Option<&'a Problem>,
}

/// An event that the command would append.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DryRunEvent")]
struct EventResponse<'a> {
    subject: &'a str,
    r#type: &'a str,
    /// The payload and the metadata of the event.
    #[schemars(with = "Map<String, Value>")]
    data: &'a RawValue,
}

impl<'a> DryRunResponse<'a> {
    fn from_run(run: &'a DryRun<Problem>) -> Self {
        let decision = run.decision.as_ref();
        let events = decision.map(|decision| decision.events.as_slice());
        let event = |event: &'a NewEvent| EventResponse {
            subject: event.subject.as_str(),
            r#type: event.event_type.as_str(),
            data: &event.data,
        };
        Self {
            command: run.command.name,
            at: run.at.map(|at| at.to_string()),
            accepted: decision.is_ok(),
            subject: decision.ok().map(|decision| decision.subject.as_str()),
            events: events.unwrap_or_default().iter().map(event).collect(),
            reply: decision.ok().and_then(|decision| decision.reply.as_deref()),
            problem: decision.err(),
        }
    }
}

/// Returns the route of dry runs of these commands.
pub(super) fn route(commands: &[CommandDescriptor]) -> (String, MethodRouter<Arc<HttpContext>>) {
    let commands: Arc<[CommandDescriptor]> = commands.into();
    let handle = async move |_: RequireOperator,
                             State(context): State<Arc<HttpContext>>,
                             Path(name): Path<String>,
                             parameters: Result<QueryPairs, QueryRejection>,
                             request: Request| {
        let runner = DryRunner::new(Arc::clone(&commands), &context);
        let command = runner.find_command(&name)?;
        check_content_type(request.headers())?;
        let (parts, body) = request.into_parts();
        let body = read_body(body, context.limits).await?;
        let (at, caller) = read_parameters(parameters)?;
        let run = runner
            .decide_command(command, at.as_deref(), &body, &caller, &parts)
            .await?;
        Ok::<_, Problem>(Json(DryRunResponse::from_run(&run)).into_response())
    };
    (PATH.to_owned(), post(handle))
}

/// Reads the last event of the past, and the caller as whom the command is decided, from the query.
fn read_parameters(
    parameters: Result<QueryPairs, QueryRejection>,
) -> Result<(Option<String>, Caller), Problem> {
    let Query(parameters) =
        parameters.map_err(|error| Problem::new(kind::INVALID_PARAMETER, error.body_text()))?;
    let (mut at, mut roles, mut owner) = (None, Vec::new(), None);
    for (name, value) in parameters {
        match name.as_str() {
            AT if at.is_none() => at = Some(value),
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
