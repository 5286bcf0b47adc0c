//! Parks a reaction at a poison event. It waits until an operator retries or skips the event, or
//! until another process has handled it.

use std::time::Duration;

use super::{PoisonEvent, ReactionError, checkpoint::ReactionTask, processor::ReactionProcessor};
use es_event::{EventId, EventSelection, RecordedEvent};
use es_runtime::operator::{
    ComponentKind, OperatorCommand, OperatorError, OperatorRequests, OperatorResult,
    SubscriberState,
};
use es_store::StoreError;

/// The interval at which a parked reaction checks whether another process has handled the event.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

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
    error: ReactionError,
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
            error,
        }
    }

    /// Creates the reason for an event that the event store cannot read.
    pub(super) const fn unreadable(
        poison: PoisonEvent,
        task: Option<ReactionTask>,
        error: StoreError,
    ) -> Self {
        let error = ReactionError::Store(error);
        Self {
            poison,
            task,
            error,
        }
    }

    pub(super) const fn error(&self) -> &ReactionError {
        &self.error
    }

    pub(super) const fn poison(&self) -> &PoisonEvent {
        &self.poison
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
            Self::Poison(parked) => parked.error,
            Self::Store(error) => error,
        }
    }
}

impl ReactionProcessor {
    /// Parks the reaction until it may resume.
    pub(super) async fn park(mut self, parked: &ParkReason, requests: &mut OperatorRequests) {
        self.release_lease().await;
        let _ = self.checkpoints.load_checkpoint().await;
        if self.is_handled(parked) {
            return;
        }
        self.report_parked(parked);
        loop {
            tokio::select! {
                biased;
                request = requests.recv() => match request {
                    Some(request) if request.is_awaited() => {
                        let (command, selection) = (request.command, request.selection.clone());
                        let result = self.apply_operator_command(command, selection, parked).await;
                        let may_resume = matches!(result, Ok(Some(_)));
                        if may_resume {
                            self.report_resumed();
                        }
                        request.send_result(result);
                        if may_resume {
                            return;
                        }
                    }
                    Some(_) => {}
                    // No operator is left, but another process may handle the event.
                    None => tokio::time::sleep(POLL_INTERVAL).await,
                },
                () = tokio::time::sleep(POLL_INTERVAL) => {}
            }
            let loaded = self.checkpoints.load_checkpoint().await.map(|_| ());
            let control = &self.executor.control;
            let is_skipped = control.load().await.is_ok() && control.skips(&parked.poison);
            let is_handled = loaded.is_ok() && self.is_handled(parked);
            if is_handled || is_skipped {
                let (reaction, event) = (self.executor.reaction.name, parked.poison.id);
                if is_handled {
                    tracing::info!(reaction, %event, "a parked reaction resumes: another process has handled the poison event");
                } else {
                    tracing::info!(reaction, %event, "a parked reaction resumes: an operator skips the poison event");
                }
                self.report_resumed();
                return;
            }
        }
    }

    /// Releases the lease of this process, so that another one can try the call.
    pub(super) async fn release_lease(&mut self) {
        if self.checkpoints.needs_save()
            && let Err(error) = self.save_checkpoint().await
        {
            let reaction = self.executor.reaction.name;
            tracing::debug!(reaction, %error, "a lease is not released and expires later");
        }
    }

    /// Returns the poison event if the reaction may resume.
    async fn apply_operator_command(
        &mut self,
        command: OperatorCommand,
        selection: Option<EventSelection>,
        parked: &ParkReason,
    ) -> OperatorResult {
        let reaction = self.executor.reaction.name;
        let poison = &parked.poison;
        let event = poison.id;
        let is_selected = selection.as_ref().is_none_or(|one| one.covers(poison));
        match (command, selection) {
            (OperatorCommand::Rebuild, _) => return Err(OperatorError::CannotRebuild(reaction)),
            (OperatorCommand::Retry, None) => {
                tracing::warn!(reaction, %event, "an operator retries the poison event of a reaction");
            }
            (OperatorCommand::Retry, Some(selection)) => {
                let was_skipped = self.executor.control.end_skips(&selection).await?;
                if !is_selected && !was_skipped {
                    return Err(OperatorError::NotStopped(ComponentKind::Reaction, reaction));
                }
            }
            (OperatorCommand::Skip, selection)
                if selection.as_ref().is_none_or(|one| is_event(one, event)) =>
            {
                let saved = self.skip(parked).await;
                saved.map_err(|error| {
                    OperatorError::Failed(ComponentKind::Reaction, error.to_string())
                })?;
                tracing::warn!(reaction, %event, "an operator skips the poison event of a reaction");
            }
            (OperatorCommand::Skip, Some(selection)) => {
                self.executor.control.skip(selection).await?;
            }
            (OperatorCommand::Skip, None) => {}
        }
        Ok(is_selected.then(|| poison.clone()))
    }

    /// Saves a checkpoint that skips the failing task or event in every process.
    async fn skip(&mut self, parked: &ParkReason) -> Result<(), ReactionError> {
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
    fn is_handled(&self, parked: &ParkReason) -> bool {
        match &parked.task {
            Some(task) => self.checkpoints.is_in_checkpoint(task),
            None => self.checkpoints.has_passed(parked.poison.id),
        }
    }

    fn report_parked(&self, parked: &ParkReason) {
        let (name, poison) = (self.executor.reaction.name, &parked.poison);
        tracing::error!(reaction = name, event = %poison.id, error = poison.reason, "a reaction is parked at an event that it cannot handle; the other reactions continue");
        self.change_status(|status| {
            status.position = self.position;
            status.state.record_failure(poison.clone().into());
        });
    }

    fn report_resumed(&self) {
        self.change_status(|status| status.state = SubscriberState::Working);
    }
}

/// Returns true if a selection is exactly one event.
fn is_event(selection: &EventSelection, event: EventId) -> bool {
    *selection == EventSelection::Event { event }
}
