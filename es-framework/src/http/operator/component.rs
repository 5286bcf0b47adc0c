//! The texts and paths of the two kinds of components.

use crate::{
    http::problem::kind::{self, ProblemKind},
    operator::{ComponentKind, OperatorCommand},
};

/// Both kinds of components.
pub(super) const COMPONENTS: [ComponentKind; 2] =
    [ComponentKind::ReadModel, ComponentKind::Reaction];

impl OperatorCommand {
    /// Returns the last segment of the path, which is also the name of the subcommand.
    pub(super) const fn verb(self) -> &'static str {
        match self {
            Self::Rebuild => "rebuild",
            Self::Retry => "retry",
            Self::Skip => "skip",
        }
    }
}

impl ComponentKind {
    /// Returns the path that shows the status of all components.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::ReadModel => "/actuator/projections",
            Self::Reaction => "/actuator/reactions",
        }
    }

    /// Returns the path that takes a command.
    pub(super) fn command_path(self, command: OperatorCommand) -> String {
        format!("{}/{{name}}/{}", self.path(), command.verb())
    }

    /// Returns the name of the subcommand.
    pub(super) const fn subcommand(self) -> &'static str {
        match self {
            Self::ReadModel => "projection",
            Self::Reaction => "reaction",
        }
    }

    /// Returns the JSON member that names a component.
    pub(super) const fn member(self) -> &'static str {
        match self {
            Self::ReadModel => "readModel",
            Self::Reaction => "reaction",
        }
    }

    /// Returns the commands that the component takes.
    pub(super) const fn commands(self) -> &'static [OperatorCommand] {
        match self {
            Self::ReadModel => &[
                OperatorCommand::Rebuild,
                OperatorCommand::Retry,
                OperatorCommand::Skip,
            ],
            Self::Reaction => &[OperatorCommand::Retry, OperatorCommand::Skip],
        }
    }

    /// Returns the sentence that describes a command.
    pub(super) const fn description(self, command: OperatorCommand) -> &'static str {
        match (self, command) {
            (_, OperatorCommand::Rebuild) => {
                "Rebuilds a read model in a shadow table while the current one keeps answering queries."
            }
            (Self::ReadModel, OperatorCommand::Retry) => {
                "Applies the event that stopped a read model again."
            }
            (Self::ReadModel, OperatorCommand::Skip) => {
                "Skips the event that stopped a read model, now and in every rebuild."
            }
            (Self::Reaction, OperatorCommand::Retry) => {
                "Handles the event that stopped a reaction again."
            }
            (Self::Reaction, OperatorCommand::Skip) => {
                "Skips the action that failed for the event that stopped a reaction, in every instance."
            }
        }
    }

    /// Returns the problem of a command that needs a stopped component.
    pub(super) const fn not_stopped(self) -> ProblemKind {
        match self {
            Self::ReadModel => kind::READ_MODEL_NOT_STOPPED,
            Self::Reaction => kind::REACTION_NOT_STOPPED,
        }
    }

    /// Returns the problem of a component that cannot handle a command at the moment.
    pub(super) const fn unavailable(self) -> ProblemKind {
        match self {
            Self::ReadModel => kind::READ_MODELS_UNAVAILABLE,
            Self::Reaction => kind::REACTIONS_UNAVAILABLE,
        }
    }
}
