//! The choices of operators for a reaction: the events to skip, and the commands while it is not parked.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::Notify;

use super::{ReactionError, ReactionStatus};
use es_event::{EventSelection, PoisonEvent};
use es_runtime::operator::{
    ComponentKind, OperatorCommand, OperatorError, OperatorResult, TroubleCause,
};
use es_store::{EventStore, SkipLog, StoreError};

const KIND: ComponentKind = ComponentKind::Reaction;

/// The choices of operators for one reaction.
#[derive(Debug)]
pub(super) struct ReactionControl {
    name: &'static str,
    log: SkipLog,
    /// The selections whose events are skipped if they cannot be handled.
    skipped: Mutex<Vec<EventSelection>>,
    /// Ends a pause before a retry.
    wake: Notify,
    /// True if the reaction may begin without its checkpoints.
    begins_anew: AtomicBool,
}

impl ReactionControl {
    pub(super) fn new(
        name: &'static str,
        store: Arc<dyn EventStore>,
        source: Arc<str>,
    ) -> Result<Self, ReactionError> {
        let log = SkipLog::new(store, source, "reactions", name).map_err(ReactionError::Name)?;
        Ok(Self {
            name,
            log,
            skipped: Mutex::default(),
            wake: Notify::new(),
            begins_anew: AtomicBool::new(false),
        })
    }

    /// Loads the events to skip from the event store.
    pub(super) async fn load(&self) -> Result<(), StoreError> {
        let skipped = self.log.load().await?;
        *self.lock() = skipped;
        Ok(())
    }

    /// Returns true if an event that cannot be handled is skipped.
    pub(super) fn skips(&self, poison: &PoisonEvent) -> bool {
        self.lock().iter().any(|selection| selection.covers(poison))
    }

    /// Returns true if an operator has named the event by its id.
    pub(super) fn skips_by_id(&self, poison: &PoisonEvent) -> bool {
        let skipped = self.lock();
        let mut named = skipped.iter().filter(|selection| selection.ids().is_some());
        named.any(|selection| selection.covers(poison))
    }

    /// Returns true once after an operator has decided that the reaction begins without its checkpoints.
    pub(super) fn take_begins_anew(&self) -> bool {
        self.begins_anew.swap(false, Ordering::AcqRel)
    }

    /// Completes when an operator wants another attempt.
    pub(super) async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Skips events in every instance and after every restart.
    pub(super) async fn skip(&self, selection: EventSelection) -> Result<(), OperatorError> {
        self.log.skip(selection.clone()).await.map_err(failed)?;
        tracing::warn!(reaction = self.name, events = %selection, "an operator skips events of a reaction");
        self.lock().push(selection);
        Ok(())
    }

    /// Ends the skips of events. Returns false if none of them was skipped.
    pub(super) async fn end_skips(
        &self,
        selection: &EventSelection,
    ) -> Result<bool, OperatorError> {
        self.load().await.map_err(failed)?;
        let was_skipped = self.lock().iter().any(|one| selection.covers_all_of(one));
        if was_skipped {
            let ended = self.log.resume(selection.clone()).await;
            ended.map_err(failed)?;
            self.lock().retain(|one| !selection.covers_all_of(one));
        }
        Ok(was_skipped)
    }

    /// Executes a command on a reaction that is not parked: it works, or it retries.
    pub(super) async fn execute(
        &self,
        command: OperatorCommand,
        selection: Option<EventSelection>,
        status: &ReactionStatus,
    ) -> OperatorResult {
        let not_stopped = || OperatorError::NotStopped(KIND, self.name);
        let trouble = status.state.trouble();
        let event = status.poison_event().cloned();
        let about = match (command, selection) {
            (OperatorCommand::Rebuild, _) => {
                if trouble.map(|trouble| trouble.cause) != Some(TroubleCause::Checkpoint) {
                    return Err(OperatorError::CannotRebuild(self.name));
                }
                self.begins_anew.store(true, Ordering::Release);
                None
            }
            (OperatorCommand::Retry, None) => {
                trouble.ok_or_else(not_stopped)?;
                event
            }
            (OperatorCommand::Retry, Some(selection)) => {
                let event = event.filter(|event| selection.covers(event));
                if !self.end_skips(&selection).await? && event.is_none() {
                    return Err(not_stopped());
                }
                event
            }
            (OperatorCommand::Skip, None) => {
                let event = event.ok_or_else(not_stopped)?;
                self.skip(EventSelection::Event { event: event.id }).await?;
                Some(event)
            }
            (OperatorCommand::Skip, Some(selection)) => {
                let event = event.filter(|event| selection.covers(event));
                self.skip(selection).await?;
                event
            }
        };
        tracing::warn!(
            reaction = self.name,
            command = command.verb(),
            "an operator commands a reaction"
        );
        self.wake.notify_one();
        Ok(about)
    }

    /// Locks the selections. A poisoned lock is safe, because each change is complete.
    fn lock(&self) -> MutexGuard<'_, Vec<EventSelection>> {
        self.skipped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn failed(error: StoreError) -> OperatorError {
    OperatorError::Failed(KIND, error.to_string())
}
