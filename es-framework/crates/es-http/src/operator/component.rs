//! The texts and paths by which operators reach read models and reactions.

use es_subscribe::operator::{ComponentKind, OperatorCommand};

use crate::problem::kind::{self, ProblemKind};

/// Both kinds of components.
pub(crate) const COMPONENTS: [ComponentKind; 2] =
    [ComponentKind::ReadModel, ComponentKind::Reaction];

/// Returns the path that shows the status of all components of a kind.
pub(crate) const fn status_path(component: ComponentKind) -> &'static str {
    match component {
        ComponentKind::ReadModel => "/actuator/projections",
        ComponentKind::Reaction => "/actuator/reactions",
    }
}

/// Returns the path that takes a command for the component of this name.
pub(crate) fn command_path(
    component: ComponentKind,
    name: &str,
    command: OperatorCommand,
) -> String {
    format!("{}/{name}/{}", status_path(component), command.verb())
}

/// Returns the sentence that describes an operator's command in OpenAPI and in the help.
pub(crate) const fn describe_command(
    component: ComponentKind,
    command: OperatorCommand,
) -> &'static str {
    match (component, command) {
        (ComponentKind::ReadModel, OperatorCommand::Rebuild) => {
            "Rebuilds a read model in a shadow table while the current one keeps answering queries."
        }
        (ComponentKind::Reaction, OperatorCommand::Rebuild) => {
            "Lets a reaction whose tasks were lost begin as at its first start."
        }
        (_, OperatorCommand::Replay) => {
            "Delivers events to a sink again: one event, a range, or those of a subject as the key. If the range has more than 10,000 events, the answer names the next one."
        }
        (ComponentKind::ReadModel, OperatorCommand::Retry) => {
            "Lets a read model try again at once, also with the events of held rows, or ends the skips of some events."
        }
        (ComponentKind::ReadModel, OperatorCommand::Skip) => {
            "Skips the event that stopped a read model and those at which rows are held, or events that it cannot apply, now and in every rebuild."
        }
        (ComponentKind::Reaction, OperatorCommand::Retry) => {
            "Lets a reaction try again at once, also with the events of held subjects, or ends the skips of some events."
        }
        (ComponentKind::Reaction, OperatorCommand::Skip) => {
            "Skips the actions that failed for the events at which subjects are held, or events that a reaction cannot handle, in every instance."
        }
    }
}

/// Returns the problem of a command that needs a stopped component.
pub(crate) const fn not_stopped(component: ComponentKind) -> ProblemKind {
    match component {
        ComponentKind::ReadModel => kind::READ_MODEL_NOT_STOPPED,
        ComponentKind::Reaction => kind::REACTION_NOT_STOPPED,
    }
}

/// Returns the problem of a component that cannot handle a command at the moment.
pub(crate) const fn unavailable(component: ComponentKind) -> ProblemKind {
    match component {
        ComponentKind::ReadModel => kind::READ_MODELS_UNAVAILABLE,
        ComponentKind::Reaction => kind::REACTIONS_UNAVAILABLE,
    }
}
