//! Reads and appends the checkpoints of one reaction. Each append has the precondition that no newer checkpoint follows the last known one.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use uuid::Uuid;

use super::{
    ReactionError,
    checkpoint::{CHECKPOINT_TYPE, CallLease, ReactionCheckpoint, ReactionProgress, ReactionTask},
    stored_checkpoint::StoredCheckpoint,
};
use es_event::{
    EventCandidate, EventId, InvalidSubjectValue, Metadata, Subject, SubjectTemplatePart,
};
use es_store::{AppendError, EventStore, Precondition, StoreError};

/// A lease expires after this time without a renewal.
pub(super) const LEASE_DURATION: Duration = Duration::from_secs(10);
/// The time between two renewals of a lease.
pub(super) const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(3);

/// The checkpoints of one reaction.
#[derive(Debug)]
pub(super) struct CheckpointStore {
    store: Arc<dyn EventStore>,
    source: Arc<str>,
    subject: Subject,
    instance: Uuid,
    /// The event id of the last known checkpoint.
    last: Option<EventId>,
    known: Option<ReactionCheckpoint>,
    /// True if an append had an unknown result, so that the last checkpoint must be loaded.
    is_stale: bool,
    /// The tasks that this process finished and no checkpoint records yet.
    done: Vec<ReactionTask>,
    /// The lease of another process, and the time since which it has not changed. Only the clock of this
    /// process decides when the lease is expired.
    observed_lease: Option<(CallLease, Instant)>,
}

/// The result of an attempt to get the lease on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeaseResult {
    /// This process holds the lease.
    Acquired,
    /// Another process holds the lease.
    HeldElsewhere,
    /// The call was made.
    AlreadyDone,
    /// Another process wrote a checkpoint meanwhile. Try again.
    Conflict,
}

impl CheckpointStore {
    pub(super) fn new(
        reaction: &'static str,
        store: Arc<dyn EventStore>,
        source: Arc<str>,
        instance: Uuid,
    ) -> Result<Self, InvalidSubjectValue> {
        let subject = Subject::fill_template(&[
            SubjectTemplatePart::Text("/es-framework/reactions/"),
            SubjectTemplatePart::Field("name", &reaction),
        ])?;
        Ok(Self {
            store,
            source,
            subject,
            instance,
            last: None,
            known: None,
            is_stale: false,
            done: Vec::new(),
            observed_lease: None,
        })
    }

    /// Loads the last checkpoint, if there is one. Events on the subject that are no checkpoints are passed over.
    ///
    /// # Errors
    /// There are checkpoints, and none can be read.
    pub(super) async fn load_checkpoint(
        &mut self,
    ) -> Result<Option<&ReactionProgress>, ReactionError> {
        let stored = StoredCheckpoint::read_newest(&*self.store, &self.subject).await?;
        self.last = stored.last;
        self.known = stored.checkpoint;
        self.is_stale = false;
        if stored.is_lost {
            return Err(ReactionError::Checkpoint(self.subject.clone()));
        }
        let known = self.known.as_ref();
        self.done
            .retain(|task| !known.is_some_and(|known| known.is_task_done(task)));
        Ok(self.last_progress())
    }

    /// Returns the progress of the last known checkpoint.
    pub(super) fn last_progress(&self) -> Option<&ReactionProgress> {
        self.known.as_ref().map(|known| &known.progress)
    }

    /// Returns whether some process has handled an event.
    pub(super) fn has_passed(&self, event: EventId) -> bool {
        self.last_progress()
            .is_some_and(|known| known.has_passed(event))
    }

    /// Returns whether a task was executed or skipped, by this process or another.
    pub(super) fn is_task_done(&self, task: &ReactionTask) -> bool {
        self.done.contains(task) || self.is_in_checkpoint(task)
    }

    /// Returns whether the last known checkpoint records a task.
    pub(super) fn is_in_checkpoint(&self, task: &ReactionTask) -> bool {
        let known = self.known.as_ref();
        known.is_some_and(|known| known.is_task_done(task))
    }

    /// Marks a task as finished. The next checkpoint records it.
    pub(super) fn mark_done(&mut self, task: ReactionTask) {
        self.done.push(task);
    }

    /// Takes back [`CheckpointStore::mark_done`].
    pub(super) fn unmark_done(&mut self, task: &ReactionTask) {
        self.done.retain(|done| done != task);
    }

    /// Returns true if finished tasks are not in a checkpoint, or if this process holds a lease, for which other
    /// processes wait.
    pub(super) fn needs_save(&self) -> bool {
        !self.done.is_empty() || self.own_lease().is_some()
    }

    /// Appends a checkpoint and releases a lease of this process. Returns `false` after a conflict.
    /// After an error, the next call loads the last checkpoint first.
    pub(super) async fn save_and_release_lease(
        &mut self,
        progress: &ReactionProgress,
    ) -> Result<bool, ReactionError> {
        let lease = self.foreign_lease().cloned();
        self.write(progress, lease).await
    }

    /// Tries to get the lease on a call.
    pub(super) async fn try_acquire_lease(
        &mut self,
        task: &ReactionTask,
        progress: &ReactionProgress,
    ) -> Result<LeaseResult, ReactionError> {
        if self.is_task_done(task) {
            return Ok(LeaseResult::AlreadyDone);
        }
        if self.is_leased_elsewhere() {
            return Ok(LeaseResult::HeldElsewhere);
        }
        let own = self.own_lease().filter(|lease| lease.is_for_task(task));
        let lease = match own {
            Some(own) => own.renewed(LEASE_DURATION),
            None => CallLease::new(self.instance, task.clone(), LEASE_DURATION),
        };
        if self.write(progress, Some(lease)).await? {
            Ok(LeaseResult::Acquired)
        } else {
            Ok(LeaseResult::Conflict)
        }
    }

    /// Renews the lease of this process. Returns `false` if the lease is lost.
    pub(super) async fn renew_lease(&mut self, duration: Duration) -> Result<bool, ReactionError> {
        loop {
            let (Some(own), Some(progress)) = (self.own_lease(), self.last_progress()) else {
                return Ok(false);
            };
            let (lease, progress) = (own.renewed(duration), progress.clone());
            if self.write(&progress, Some(lease)).await? {
                return Ok(true);
            }
        }
    }

    fn own_lease(&self) -> Option<&CallLease> {
        let lease = self.known.as_ref()?.lease.as_ref();
        lease.filter(|lease| lease.belongs_to(self.instance))
    }

    fn foreign_lease(&self) -> Option<&CallLease> {
        let lease = self.known.as_ref()?.lease.as_ref();
        lease.filter(|lease| !lease.belongs_to(self.instance))
    }

    fn is_leased_elsewhere(&mut self) -> bool {
        let Some(lease) = self.foreign_lease() else {
            return false;
        };
        match &self.observed_lease {
            Some((observed, since)) if observed == lease => since.elapsed() < lease.duration(),
            _ => {
                self.observed_lease = Some((lease.clone(), Instant::now()));
                true
            }
        }
    }

    async fn write(
        &mut self,
        own: &ReactionProgress,
        lease: Option<CallLease>,
    ) -> Result<bool, ReactionError> {
        if self.is_stale {
            self.load_checkpoint().await?;
            return Ok(false);
        }
        // A process may have handled more events and have settled fewer deadlines: an event can set a deadline that
        // has passed, and the clock may be behind. A deadline that was met must stay covered.
        let known = self
            .last_progress()
            .filter(|known| !own.covers_all_of(known));
        let progress = known.unwrap_or(own).clone();
        let noted = self.known.iter().flat_map(|known| &known.done);
        let done = noted
            .chain(&self.done)
            .filter(|task| !progress.covers(task));
        let checkpoint = ReactionCheckpoint {
            done: done.cloned().collect(),
            progress,
            lease,
        };
        let precondition = match self.last {
            Some(last) => Precondition::SubjectIsOnEventId(self.subject.clone(), last),
            None => Precondition::SubjectIsPristine(self.subject.clone()),
        };
        let candidate = EventCandidate {
            source: Arc::clone(&self.source),
            subject: self.subject.clone(),
            event_type: CHECKPOINT_TYPE,
            data: es_event::encode(&Metadata::default(), &checkpoint)?,
            trace: None,
        };
        match self.store.append(vec![candidate], vec![precondition]).await {
            Ok(recorded) => {
                self.last = recorded.last().map(|event| event.id).or(self.last);
                self.known = Some(checkpoint);
                self.done.clear();
                Ok(true)
            }
            Err(AppendError::Conflict(_)) => {
                self.load_checkpoint().await?;
                Ok(false)
            }
            Err(error) => {
                self.is_stale = true;
                Err(store_error(error).into())
            }
        }
    }
}

fn store_error(error: AppendError) -> StoreError {
    match error {
        AppendError::Store(error) => error,
        AppendError::Unknown { address, reason } => StoreError::Unavailable { address, reason },
        AppendError::Schema(error) => StoreError::Refused(error.to_string()),
        AppendError::Conflict(error) => StoreError::Refused(error.to_string()),
        error @ AppendError::ErasedPerson(_) => StoreError::Refused(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use es_store::memory::MemoryStore;
    use jiff::Timestamp;

    use super::*;

    fn progress(position: u64, settled: i64) -> ReactionProgress {
        ReactionProgress {
            position: EventId::new(position),
            settled: Timestamp::new(settled, 0).unwrap(),
            settled_before: None,
            open_from: EventId::new(1),
        }
    }

    #[tokio::test]
    async fn a_process_whose_clock_is_behind_does_not_forget_a_deadline_that_was_met() {
        let store: Arc<dyn EventStore> = Arc::new(MemoryStore::new());
        let handled = EventCandidate {
            source: "tests".into(),
            subject: "/invoices/1".parse().unwrap(),
            event_type: es_event::EventType::declared("com.example.InvoiceSentEvent"),
            data: es_event::encode(&Metadata::default(), &1).unwrap(),
            trace: None,
        };
        store.append(vec![handled; 10], vec![]).await.unwrap();
        let process = |instance| {
            let (store, instance) = (Arc::clone(&store), Uuid::from_u128(instance));
            CheckpointStore::new("reminder", store, "tests".into(), instance).unwrap()
        };
        let (mut first, mut second) = (process(1), process(2));
        let met = ReactionTask {
            event: EventId::new(3).unwrap(),
            step: "call".into(),
            view: 0,
            at: Timestamp::new(10, 0).ok(),
        };
        first.mark_done(met.clone());
        let written = first.save_and_release_lease(&progress(5, 20)).await;
        assert!(written.unwrap());
        second.load_checkpoint().await.unwrap();
        let written = second.save_and_release_lease(&progress(8, 7)).await;
        assert!(written.unwrap());
        first.load_checkpoint().await.unwrap();
        assert!(first.is_in_checkpoint(&met));
        // Once the second process has settled as much, its position counts.
        let written = second.save_and_release_lease(&progress(9, 20)).await;
        assert!(written.unwrap());
        assert!(second.is_in_checkpoint(&met));
        assert_eq!(second.last_progress(), Some(&progress(9, 20)));
    }
}
