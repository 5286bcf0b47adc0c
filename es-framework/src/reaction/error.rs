//! Why a reaction does not do what it should, in terms of what helps.

use std::fmt::Display;

use crate::{
    command::CommandError,
    event::{DecodeError, InvalidSubjectPart},
    store::StoreError,
};

/// What a reaction could not do.
///
/// ```
/// use es_framework::reaction::ReactionError;
///
/// let error = ReactionError::call("the mail server is away");
/// assert_eq!(error.to_string(), "the call failed: the mail server is away");
/// ```
#[derive(Debug, thiserror::Error)]
pub enum ReactionError {
    /// The event does not fit its declaration.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A command that cannot be JSON.
    #[error("a command cannot be written as JSON: {0}")]
    Encode(#[from] serde_json::Error),
    /// The application does not provide what a call takes.
    #[error("the application does not provide `{0}`")]
    NotProvided(&'static str),
    /// A function of the reaction panicked.
    #[error("the reaction panicked: {0}")]
    Panicked(String),
    /// A call failed.
    #[error("the call failed: {0}")]
    Call(String),
    /// This instance was silent for so long that another one makes the call.
    #[error("another instance makes the call")]
    TakenOver,
    /// A command was not carried out.
    #[error("{command} was not carried out: {error}")]
    Command {
        /// The command's name.
        command: &'static str,
        /// What stood against it.
        error: CommandError,
    },
    /// Its name cannot stand in a subject.
    #[error("a reaction cannot have this name: {0}")]
    Name(InvalidSubjectPart),
    /// The event store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What helps after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remedy {
    /// Patience: the other side will be back.
    Wait,
    /// A few more attempts.
    TryAgain,
    /// Nothing but a person.
    None,
}

impl ReactionError {
    /// A call that failed; it is made again.
    #[must_use]
    pub fn call(error: impl Display) -> Self {
        Self::Call(error.to_string())
    }

    pub(super) const fn remedy(&self) -> Remedy {
        match self {
            Self::Decode(_)
            | Self::Encode(_)
            | Self::NotProvided(_)
            | Self::Panicked(_)
            | Self::Name(_) => Remedy::None,
            Self::Call(_) => Remedy::TryAgain,
            Self::TakenOver => Remedy::Wait,
            Self::Store(error) => of_store(error),
            Self::Command { error, .. } => match error {
                CommandError::Store(error) => of_store(error),
                CommandError::Contended(_) | CommandError::Unknown { .. } => Remedy::Wait,
                _ => Remedy::None,
            },
        }
    }
}

const fn of_store(error: &StoreError) -> Remedy {
    match error {
        StoreError::Unavailable { .. } | StoreError::Full(_) | StoreError::Unauthorized { .. } => {
            Remedy::Wait
        }
        StoreError::Refused(_) | StoreError::Options(_) | StoreError::Corrupt { .. } => {
            Remedy::TryAgain
        }
    }
}
