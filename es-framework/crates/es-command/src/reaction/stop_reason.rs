//! The reasons why a reaction does not handle further events, and the failures of steps, which hold a subject.

use super::{ReactionError, reaction_progress::ReactionTask};
use es_event::PoisonEvent;
use es_store::StoreError;
use es_subscribe::{Interruption, SubscriberFailure};

/// The reason why a processor stops.
pub(super) enum StopReason {
    /// A failure of the event store, or of a step in a test.
    Error(ReactionError),
    /// The reaction cannot hold another subject.
    Limit(SubscriberFailure),
    /// Another process has released a subject, so the processor begins anew at the last checkpoint.
    Rewind,
}

/// The failure of a step.
pub(super) enum StepFailure {
    /// The subject has to wait.
    Failed(Box<FailedStep>),
    /// Another process holds the subject or has released it.
    SubjectIsHeld,
    /// A call was begun, and its subject is busy until it ends.
    CallRuns,
}

/// A step that failed, and the report about its event.
pub(super) struct FailedStep {
    pub(super) poison: PoisonEvent,
    pub(super) task: ReactionTask,
    pub(super) error: ReactionError,
}

impl StepFailure {
    pub(super) fn new(poison: PoisonEvent, task: ReactionTask, error: ReactionError) -> Self {
        Self::Failed(Box::new(FailedStep {
            poison,
            task,
            error,
        }))
    }
}

impl<T: Into<ReactionError>> From<T> for StopReason {
    fn from(error: T) -> Self {
        Self::Error(error.into())
    }
}

impl StopReason {
    pub(super) fn into_interruption<End>(self) -> Interruption<End> {
        match self {
            Self::Error(ReactionError::Store(error)) => Interruption::Store(error),
            Self::Error(error) => Interruption::Failed(error.to_failure()),
            Self::Limit(failure) => Interruption::Failed(failure),
            Self::Rewind => Interruption::Rewind,
        }
    }

    pub(super) fn into_error(self) -> ReactionError {
        match self {
            Self::Error(error) => error,
            Self::Limit(failure) => StoreError::Refused(failure.reason).into(),
            Self::Rewind => ReactionError::TakenOver,
        }
    }
}
