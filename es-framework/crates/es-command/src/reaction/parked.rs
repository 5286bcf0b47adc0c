//! The reasons why a reaction stops: a poison event, at which it parks, or a failure of the event store.

use super::{PoisonEvent, ReactionError, checkpoint::ReactionTask, processor::ReactionProcessor};
use es_event::{EventSelection, RecordedEvent};
use es_store::StoreError;

/// The reason why a processor stops.
pub(super) enum StopReason {
    /// An event that the reaction cannot handle.
    Poison(Box<ParkReason>),
    /// A failure of the event store.
    Store(ReactionError),
}

/// The reason why a reaction is parked: the poison event, the task that fails and its error.
pub(super) struct ParkReason {
    poison: PoisonEvent,
    /// The task that fails. It is missing if the event cannot even be read or decoded.
    task: Option<ReactionTask>,
    /// The error, unless the event store cannot read the event.
    error: Option<ReactionError>,
}

impl ParkReason {
    pub(super) fn new(
        event: &RecordedEvent,
        task: Option<ReactionTask>,
        error: ReactionError,
    ) -> Self {
        Self {
            poison: PoisonEvent::new(event, &error),
            task,
            error: Some(error),
        }
    }

    /// Creates the reason for an event that the event store cannot read.
    pub(super) const fn unreadable(poison: PoisonEvent, task: Option<ReactionTask>) -> Self {
        Self {
            poison,
            task,
            error: None,
        }
    }

    pub(super) const fn poison(&self) -> &PoisonEvent {
        &self.poison
    }

    /// Returns true if a selection is exactly the poison event.
    pub(super) fn is_at(&self, selection: &EventSelection) -> bool {
        *selection
            == EventSelection::Event {
                event: self.poison.id,
            }
    }
}

impl From<ParkReason> for StopReason {
    fn from(parked: ParkReason) -> Self {
        Self::Poison(Box::new(parked))
    }
}

impl From<ReactionError> for StopReason {
    fn from(error: ReactionError) -> Self {
        Self::Store(error)
    }
}

impl From<StoreError> for StopReason {
    fn from(error: StoreError) -> Self {
        Self::Store(error.into())
    }
}

impl StopReason {
    pub(super) fn into_error(self) -> ReactionError {
        match self {
            Self::Poison(parked) => parked
                .error
                .unwrap_or_else(|| StoreError::Refused(parked.poison.to_string()).into()),
            Self::Store(error) => error,
        }
    }
}

impl ReactionProcessor {
    /// Releases the lease of this process, so that another one can try the call.
    pub(super) async fn release_lease(&mut self) {
        if self.checkpoints.needs_save()
            && let Err(error) = self.save_checkpoint().await
        {
            let reaction = self.executor.reaction.name;
            tracing::debug!(reaction, %error, "a lease is not released and expires later");
        }
    }

    /// Saves a checkpoint that skips the failing task or event in every process.
    pub(super) async fn skip(&mut self, parked: &ParkReason) -> Result<(), ReactionError> {
        if let Some(task) = &parked.task {
            self.checkpoints.mark_done(task.clone());
            let saved = self.save_checkpoint().await;
            if saved.is_err() {
                self.checkpoints.unmark_done(task);
            }
            return saved;
        }
        let before = self.position;
        self.position = before.max(Some(parked.poison.id));
        let saved = self.save_checkpoint().await;
        if saved.is_err() {
            self.position = before;
        }
        saved
    }

    /// Returns whether the last loaded checkpoint records the failing task or event as handled.
    pub(super) fn is_handled(&self, parked: &ParkReason) -> bool {
        match &parked.task {
            Some(task) => self.checkpoints.is_in_checkpoint(task),
            None => self.checkpoints.has_passed(parked.poison.id),
        }
    }
}
