//! The texts and paths by which operators reach read models and reactions.

use es_subscribe::operator::{ComponentKind, OperatorCommand};

use crate::problem::kind::{self, ProblemKind};

/// Both kinds of components.
pub(crate) const COMPONENTS: [ComponentKind; 2] =
    [ComponentKind::ReadModel, ComponentKind::Reaction];

/// The ways in which operators reach a kind of component: paths, subcommand, problems.
pub(crate) trait OperatorInterface {
    /// Returns the path that shows the status of all components.
    fn path(self) -> &'static str;

    /// Returns the path that takes a command.
    fn command_path(self, command: OperatorCommand) -> String;

    /// Returns the name of the subcommand.
    #[cfg(feature = "client")]
    fn subcommand(self) -> &'static str;

    /// Returns the sentence that describes an operator's command in OpenAPI and in the help.
    fn description(self, command: OperatorCommand) -> &'static str;

    /// Returns the problem of a command that needs a stopped component.
    fn not_stopped(self) -> ProblemKind;

    /// Returns the problem of a component that cannot handle a command at the moment.
    fn unavailable(self) -> ProblemKind;
}

impl OperatorInterface for ComponentKind {
    fn path(self) -> &'static str {
        match self {
            Self::ReadModel => "/actuator/projections",
            Self::Reaction => "/actuator/reactions",
        }
    }

    fn command_path(self, command: OperatorCommand) -> String {
        format!("{}/{{name}}/{}", self.path(), command.verb())
    }

    #[cfg(feature = "client")]
    fn subcommand(self) -> &'static str {
        match self {
            Self::ReadModel => "projection",
            Self::Reaction => "reaction",
        }
    }

    fn description(self, command: OperatorCommand) -> &'static str {
        match (self, command) {
            (Self::ReadModel, OperatorCommand::Rebuild) => {
                "Rebuilds a read model in a shadow table while the current one keeps answering queries."
            }
            (Self::Reaction, OperatorCommand::Rebuild) => {
                "Lets a reaction whose tasks were lost begin as at its first start."
            }
            (Self::ReadModel, OperatorCommand::Retry) => {
                "Lets a read model try again at once, also with the events of held rows, or ends the skips of some events."
            }
            (Self::ReadModel, OperatorCommand::Skip) => {
                "Skips the event that stopped a read model and those at which rows are held, or events that it cannot apply, now and in every rebuild."
            }
            (Self::Reaction, OperatorCommand::Retry) => {
                "Lets a reaction try again at once, also with the events of held subjects, or ends the skips of some events."
            }
            (Self::Reaction, OperatorCommand::Skip) => {
                "Skips the actions that failed for the events at which subjects are held, or events that a reaction cannot handle, in every instance."
            }
        }
    }

    fn not_stopped(self) -> ProblemKind {
        match self {
            Self::ReadModel => kind::READ_MODEL_NOT_STOPPED,
            Self::Reaction => kind::REACTION_NOT_STOPPED,
        }
    }

    fn unavailable(self) -> ProblemKind {
        match self {
            Self::ReadModel => kind::READ_MODELS_UNAVAILABLE,
            Self::Reaction => kind::REACTIONS_UNAVAILABLE,
        }
    }
}
