//! The HTTP routes of the operator API.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, Query, State, rejection::QueryRejection},
    response::{IntoResponse as _, Response},
    routing::{MethodRouter, get, post},
};
use es_command::command::CommandDescriptor;
use es_event::EventSelection;
use es_subscribe::{
    operator::{ComponentKind, OperatorCommand, OperatorError, OperatorOutcome, ReplayOutcome},
    status::{PoisonEventStatus, ReactionStatuses, ReadModelStatuses},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    authorization::{RequireOperator, RequireOperatorOrOpen},
    component::{COMPONENTS, command_path, not_stopped, status_path, unavailable},
    dry_run::{self, QueryPairs},
    personal_data, unique_values,
};
use crate::{HttpContext, Problem, health::load_newest_id, problem::kind};

type Route = MethodRouter<Arc<HttpContext>>;

/// The read model that carried out a command, and the event that had stopped it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReadModelReply {
    read_model: String,
    #[serde(flatten)]
    outcome: CommandOutcomeReply,
}

/// The reaction that carried out a command, and the event that had stopped it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReactionReply {
    reaction: String,
    #[serde(flatten)]
    outcome: CommandOutcomeReply,
    /// The result of a replay.
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<ReplayOutcome>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CommandOutcomeReply {
    event: Option<PoisonEventStatus>,
    /// The number of held keys that the command was about.
    retried_keys: usize,
    /// The number of those that are held no longer.
    released_keys: usize,
}

impl From<OperatorOutcome> for CommandOutcomeReply {
    fn from(outcome: OperatorOutcome) -> Self {
        Self {
            event: outcome.event.as_ref().map(PoisonEventStatus::from),
            retried_keys: outcome.retried,
            released_keys: outcome.released,
        }
    }
}

/// Returns the paths of the operator API with their routes.
pub(crate) fn routes(commands: &[CommandDescriptor]) -> Vec<(String, Route)> {
    let mut routes = vec![dry_run::route(commands), unique_values::route()];
    routes.extend(personal_data::routes());
    for component in COMPONENTS {
        let show = move |_: RequireOperatorOrOpen, State(context): State<Arc<HttpContext>>| {
            show_status(component, context)
        };
        routes.push((status_path(component).to_owned(), get(show)));
        for &command in component.commands() {
            let send = move |_: RequireOperator,
                             name,
                             selection,
                             State(context): State<Arc<HttpContext>>| {
                send_command(component, command, (name, selection), context)
            };
            routes.push((command_path(component, "{name}", command), post(send)));
        }
    }
    routes
}

/// Returns the status of all components of a kind, as in the health check.
async fn show_status(component: ComponentKind, context: Arc<HttpContext>) -> Response {
    let health = &context.health;
    let newest = load_newest_id(&*health.store).await;
    match component {
        ComponentKind::ReadModel => {
            let measured = ReadModelStatuses::measure(&health.positions, &*health.store, newest);
            Json(measured.await).into_response()
        }
        ComponentKind::Reaction => {
            Json(ReactionStatuses::new(&health.reactions, newest)).into_response()
        }
    }
}

/// Sends an operator's command, such as a retry, to the read model or reaction that the path names.
async fn send_command(
    component: ComponentKind,
    command: OperatorCommand,
    (Path(name), selection): (Path<String>, Result<QueryPairs, QueryRejection>),
    context: Arc<HttpContext>,
) -> Response {
    let selection = match read_selection(command, selection) {
        Ok(selection) => selection,
        Err(problem) => return problem.into_response(),
    };
    let operator = match component {
        ComponentKind::ReadModel => &context.read_models,
        ComponentKind::Reaction => &context.reactions,
    };
    match operator.send_selection(&name, command, selection).await {
        Ok(outcome) => match component {
            ComponentKind::ReadModel => Json(ReadModelReply {
                read_model: name,
                outcome: outcome.into(),
            })
            .into_response(),
            ComponentKind::Reaction => Json(ReactionReply {
                reaction: name,
                replay: outcome.replay,
                outcome: outcome.into(),
            })
            .into_response(),
        },
        Err(error) => problem(component, &error).into_response(),
    }
}

/// Reads the events that a command is about from the query.
fn read_selection(
    command: OperatorCommand,
    pairs: Result<QueryPairs, QueryRejection>,
) -> Result<Option<EventSelection>, Problem> {
    let invalid = |detail: String| Problem::new(kind::INVALID_PARAMETER, detail);
    let Query(pairs) = pairs.map_err(|error| invalid(error.body_text()))?;
    let selected = pairs.iter().map(|(name, value)| (&**name, &**value));
    let selection =
        EventSelection::from_pairs(selected).map_err(|error| invalid(error.to_string()))?;
    if command == OperatorCommand::Rebuild && selection.is_some() {
        return Err(invalid("a rebuild takes no selection of events".to_owned()));
    }
    Ok(selection)
}

fn problem(component: ComponentKind, error: &OperatorError) -> Problem {
    let detail = error.to_string();
    match error {
        OperatorError::Unknown(..) => Problem::new(kind::NOT_FOUND, detail),
        OperatorError::NoSuchEvent(_) | OperatorError::WrongReplay(_) => {
            Problem::new(kind::INVALID_PARAMETER, detail)
        }
        OperatorError::NotStopped(..)
        | OperatorError::CannotRebuild(_)
        | OperatorError::CannotReplay(..) => Problem::new(not_stopped(component), detail),
        OperatorError::Rebuilding(..) => Problem::new(kind::READ_MODEL_REBUILDING, detail),
        OperatorError::StandsBy => Problem::new(kind::STANDS_BY, detail),
        OperatorError::Failed(..) | OperatorError::Busy(_) => {
            tracing::error!(error = detail, "an operator's command failed");
            let detail = match component {
                ComponentKind::ReadModel => {
                    "the read models cannot do this at the moment; the log says why"
                }
                ComponentKind::Reaction => {
                    "the reaction cannot do this at the moment; the log says why"
                }
            };
            Problem::new(unavailable(component), detail)
        }
    }
}
