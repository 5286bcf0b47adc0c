//! The errors of reactions, and how a reaction recovers from them.

use std::{fmt::Display, time::Duration};

use crate::command::CommandError;
use es_event::{DecodeError, EventId, InvalidSubjectValue, Subject};
use es_sink::DeliveryError;
use es_store::{AppendError, StoreError};
use es_subscribe::{Interruption, SubscriberFailure, TroubleCause, state::StateError};

/// The reason why a reaction cannot handle an event.
///
/// ```
/// use es_framework::reaction::ReactionError;
///
/// let error = ReactionError::from_call_error("the mail server is away");
/// assert_eq!(error.to_string(), "the call failed: the mail server is away");
/// ```
#[derive(Debug, thiserror::Error)]
pub enum ReactionError {
    /// The event does not fit its declaration.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A command cannot be written as JSON.
    #[error("a command cannot be written as JSON: {0}")]
    Encode(#[from] serde_json::Error),
    /// The application does not provide a service that a call takes.
    #[error("the application does not provide `{0}`")]
    NotProvided(&'static str),
    /// A function of the reaction panicked, or code that it runs: an upcaster, the fold of a state, or a handler.
    #[error("the reaction panicked: {0}")]
    Panicked(String),
    /// A call failed.
    #[error("the call failed: {0}")]
    Call(String),
    /// The receiver of a sink asks for a pause.
    #[error("the call failed: {reason}")]
    Later {
        /// The answer.
        reason: String,
        /// The pause.
        pause: Duration,
    },
    /// The receiver of a sink wants no more events.
    #[error("the receiver wants no more events: {0}")]
    Ended(String),
    /// The event behind which the first start of a sink begins is not recorded.
    #[error(
        "event {0} is not recorded yet, so the sink cannot begin behind it: let it start with \"now\", \"first\" or the id of a recorded event"
    )]
    NoStart(EventId),
    /// The task belongs to a function that the reaction no longer has.
    #[error(
        "the reaction has no function `{0}` any more, for which it has planned this task: give the function its name back, or skip the event"
    )]
    UnknownStep(String),
    /// A command was not handled.
    #[error("{command} was not carried out: {error}")]
    Command {
        /// The command's name.
        command: &'static str,
        /// The reason.
        error: CommandError,
    },
    /// The name of the reaction is not a valid subject segment.
    #[error("a reaction cannot have this name: {0}")]
    Name(InvalidSubjectValue),
    /// The state that a function takes does not exist after the event or at the scheduled time.
    #[error(
        "{subject} has no state {state} after the event or at the time of the schedule: take `Option<&{state}>` if that may be"
    )]
    NoState {
        /// The name of the state.
        state: &'static str,
        /// The subject.
        subject: Subject,
    },
    /// The subject that a function names has a value that no subject can have.
    #[error(transparent)]
    Subject(#[from] InvalidSubjectValue),
    /// The schedule has no times.
    #[error("the schedule `{cron}` in the zone {zone} is refused: {reason}")]
    Schedule {
        /// The cron expression.
        cron: &'static str,
        /// The name of the time zone.
        zone: &'static str,
        /// The reason.
        reason: String,
    },
    /// An earlier release has left checkpoints in the event store, and none of them can be read.
    #[error(
        "no checkpoint on {0} can be read: rebuild the reaction, so that it begins as at its first start, or start the release that wrote the checkpoints"
    )]
    Checkpoint(Subject),
    /// The state database failed.
    #[error(transparent)]
    State(#[from] StateError),
    /// The event store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The way to recover from a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recovery {
    /// Wait until the other side is available again. The attempts are not limited.
    Wait,
    /// Hold the subject, and retry up to the attempt limit.
    Retry,
    /// Hold the subject until an operator retries or skips the event.
    Hold,
}

impl ReactionError {
    /// Creates the error of a failed call. The reaction retries the call.
    #[must_use]
    pub fn from_call_error(error: impl Display) -> Self {
        Self::Call(error.to_string())
    }

    /// Returns how the reaction recovers from this error.
    pub(super) const fn recovery(&self) -> Recovery {
        match self {
            Self::Decode(_)
            | Self::Encode(_)
            | Self::NotProvided(_)
            | Self::Panicked(_)
            | Self::Name(_)
            | Self::NoState { .. }
            | Self::Subject(_)
            | Self::UnknownStep(_)
            | Self::Schedule { .. } => Recovery::Hold,
            Self::Call(_) | Self::Later { .. } => Recovery::Retry,
            Self::Ended(_) | Self::NoStart(_) => Recovery::Hold,
            Self::State(_) | Self::Checkpoint(_) => Recovery::Wait,
            Self::Store(error) => store_recovery(error),
            Self::Command { error, .. } => match error {
                CommandError::Store(error) => store_recovery(error),
                CommandError::Contended(_) | CommandError::Unknown { .. } => Recovery::Wait,
                _ => Recovery::Hold,
            },
        }
    }
}

impl ReactionError {
    /// Returns the state that the reaction has after this error.
    pub(super) fn to_failure(&self) -> SubscriberFailure {
        let (cause, is_transient) = match self {
            Self::Store(error)
            | Self::Command {
                error: CommandError::Store(error),
                ..
            } => (TroubleCause::EventStore, error.is_transient()),
            Self::State(error) => return failure_of_state(error),
            Self::Checkpoint(_) => (TroubleCause::Checkpoint, false),
            Self::Name(_) | Self::NoStart(_) | Self::Schedule { .. } => {
                (TroubleCause::Action, false)
            }
            _ => (TroubleCause::Action, true),
        };
        SubscriberFailure::new(cause, is_transient, self)
    }

    /// Returns the interruption of a subscriber that meets this error.
    pub(super) fn into_interruption<End>(self) -> Interruption<End> {
        match self {
            Self::Store(error) => Interruption::Store(error),
            error => Interruption::Failed(error.to_failure()),
        }
    }
}

impl From<DeliveryError> for ReactionError {
    fn from(error: DeliveryError) -> Self {
        match error {
            DeliveryError::Failed(reason) => Self::Call(reason),
            DeliveryError::Later { reason, pause } => Self::Later { reason, pause },
            DeliveryError::Ended(reason) => Self::Ended(reason),
        }
    }
}

/// Returns the state that a reaction has after an error of the state database.
pub(super) fn failure_of_state(error: &StateError) -> SubscriberFailure {
    let cause = match error {
        StateError::Store(_) => TroubleCause::EventStore,
        error if error.needs_rebuild() => TroubleCause::Checkpoint,
        _ => TroubleCause::Database,
    };
    SubscriberFailure::new(cause, error.is_transient(), error)
}

/// Returns the failure of an append that did not end with a conflict.
pub(super) fn append_failure(error: AppendError) -> ReactionError {
    let error = match error {
        AppendError::Store(error) => error,
        AppendError::Unknown { address, reason } => StoreError::Unavailable { address, reason },
        error => StoreError::Refused(error.to_string()),
    };
    error.into()
}

const fn store_recovery(error: &StoreError) -> Recovery {
    match error {
        StoreError::Unavailable { .. }
        | StoreError::KeyStore(_)
        | StoreError::Full(_)
        | StoreError::Unauthorized { .. } => Recovery::Wait,
        StoreError::Refused(_) | StoreError::Options(_) | StoreError::Corrupt { .. } => {
            Recovery::Retry
        }
    }
}
