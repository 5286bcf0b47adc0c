//! Parks a reaction at a poison event. It waits until an operator retries or skips the event, or
//! until another process has handled it.

use std::time::Duration;

use super::{PoisonEvent, ReactionError, checkpoint::ReactionTask, processor::ReactionProcessor};
use es_event::RecordedEvent;
use es_runtime::operator::{
    ComponentKind, OperatorCommand, OperatorError, OperatorRequests, OperatorResult,
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
    event: RecordedEvent,
    /// The task that fails. It is missing if the event cannot even be decoded.
    task: Option<ReactionTask>,
    error: ReactionError,
}

impl ParkReason {
    pub(super) const fn new(
        event: RecordedEvent,
        task: Option<ReactionTask>,
        error: ReactionError,
    ) -> Self {
        Self { event, task, error }
    }

    fn poison_event(&self) -> PoisonEvent {
        PoisonEvent {
            id: self.event.id,
            subject: self.event.subject.clone(),
            reason: self.error.to_string(),
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
                        let result = self.apply_operator_command(request.command, parked).await;
                        let may_resume = result.is_ok();
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
            if loaded.is_ok() && self.is_handled(parked) {
                let reaction = self.executor.reaction.name;
                tracing::info!(reaction, event = %parked.event.id, "a parked reaction resumes: another process has handled the poison event");
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

    async fn apply_operator_command(
        &mut self,
        command: OperatorCommand,
        parked: &ParkReason,
    ) -> OperatorResult {
        let RecordedEvent { id, subject, .. } = &parked.event;
        let reaction = self.executor.reaction.name;
        match command {
            OperatorCommand::Rebuild => return Err(OperatorError::CannotRebuild(reaction)),
            OperatorCommand::Retry => {
                tracing::warn!(reaction, event = %id, %subject, "an operator retries the poison event of a reaction");
            }
            OperatorCommand::Skip => {
                let saved = self.skip(parked).await;
                saved.map_err(|error| {
                    OperatorError::Failed(ComponentKind::Reaction, error.to_string())
                })?;
                tracing::warn!(reaction, event = %id, %subject, "an operator skips the poison event of a reaction");
            }
        }
        Ok(Some(parked.poison_event()))
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
        self.position = before.max(Some(parked.event.id));
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
            None => self.checkpoints.has_passed(parked.event.id),
        }
    }

    fn report_parked(&self, parked: &ParkReason) {
        let RecordedEvent { id, subject, .. } = &parked.event;
        let (name, error) = (self.executor.reaction.name, &parked.error);
        tracing::error!(reaction = name, event = %id, %subject, %error, "a reaction is parked at an event that it cannot handle; the other reactions continue");
        let trouble = format!("cannot handle event {id} on {subject}: {error}");
        self.change_status(|status| {
            status.position = self.position;
            status.trouble = Some(trouble);
            status.stopped_at = Some(parked.poison_event());
        });
    }

    fn report_resumed(&self) {
        self.change_status(|status| {
            status.trouble = None;
            status.stopped_at = None;
        });
    }
}
