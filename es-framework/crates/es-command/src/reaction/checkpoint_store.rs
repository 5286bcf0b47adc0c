//! Reads and appends the checkpoints of one reaction. Each append has the precondition that no newer checkpoint follows the last known one.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use uuid::Uuid;

use super::{
    ReactionError,
    checkpoint::{CHECKPOINT_TYPE, CallLease, LeaseResult, ReactionCheckpoint},
    error::append_failure,
    held_subject::{HeldSubject, HeldSubjects},
    reaction_progress::{ReactionProgress, ReactionTask},
    stored_checkpoint::StoredCheckpoint,
    subject_holds::SubjectHolds,
};
use es_event::{
    EventCandidate, EventId, InvalidSubjectValue, Metadata, RecordedEvent, Subject,
    SubjectTemplatePart,
};
use es_store::{AppendError, EventStore, Precondition};

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
    /// The held subjects.
    pub(super) holds: SubjectHolds,
    /// The lease of another process, and the time since which it has not changed. Only the clock of this
    /// process decides when the lease is expired.
    observed_lease: Option<(CallLease, Instant)>,
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
            holds: SubjectHolds::default(),
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
        let held = self.known.as_ref().map(|known| known.held.clone());
        self.holds.load(held.unwrap_or_default(), &mut self.done);
        let known = self.known.as_ref();
        self.done
            .retain(|task| !known.is_some_and(|known| known.is_task_done(task)));
        Ok(self.last_progress())
    }

    /// Returns the progress of the last known checkpoint.
    pub(super) fn last_progress(&self) -> Option<&ReactionProgress> {
        self.known.as_ref().map(|known| &known.progress)
    }

    /// Returns whether an event is a checkpoint that this process does not know.
    pub(super) fn is_newer(&self, event: &RecordedEvent) -> bool {
        Some(event.id) > self.last && event.subject == self.subject
    }

    /// Returns the event id of the last known checkpoint.
    pub(super) const fn last_id(&self) -> Option<EventId> {
        self.last
    }

    /// Returns the last event that some process has handled.
    pub(super) fn position(&self) -> Option<EventId> {
        self.last_progress().and_then(|known| known.position)
    }

    /// Returns whether some process has handled an event on this subject.
    pub(super) fn has_passed(&self, subject: &Subject, event: EventId) -> bool {
        let held = self.holds.find(subject).map(|held| &held.progress);
        let progress = held.or_else(|| self.last_progress());
        progress.is_some_and(|known| known.has_passed(event))
    }

    /// Returns whether a task on this subject was executed or skipped, by this process or another.
    pub(super) fn is_task_done(&self, subject: &Subject, task: &ReactionTask) -> bool {
        if let Some(held) = self.holds.find(subject) {
            return held.is_task_done(task);
        }
        let known = self.known.as_ref();
        self.done.contains(task) || known.is_some_and(|known| known.is_task_done(task))
    }

    /// Marks a task on this subject as finished. The next checkpoint records it.
    pub(super) fn mark_done(&mut self, subject: &Subject, task: ReactionTask) {
        match self.holds.find_mut(subject) {
            Some(held) => held.mark_done(task),
            None => self.done.push(task),
        }
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
        let held = self.holds.subjects().clone();
        self.write_and_release_lease(progress, held).await
    }

    async fn write_and_release_lease(
        &mut self,
        progress: &ReactionProgress,
        held: HeldSubjects,
    ) -> Result<bool, ReactionError> {
        let lease = self.foreign_lease().cloned();
        self.write(progress, lease, held).await
    }

    /// Saves that a subject waits in this state. Returns `false` after a conflict.
    pub(super) async fn try_hold(
        &mut self,
        progress: &ReactionProgress,
        subject: &Subject,
        mut state: HeldSubject,
    ) -> Result<bool, ReactionError> {
        let known = self.known.iter().flat_map(|known| &known.done);
        let done = known.chain(&self.done);
        let of_event = done.filter(|task| task.event == state.event).cloned();
        for task in of_event.collect::<Vec<_>>() {
            state.mark_done(task);
        }
        let mut held = self.holds.subjects().clone();
        held.insert(subject.clone(), state);
        self.write_and_release_lease(progress, held).await
    }

    /// Saves that a subject waits no longer. Returns `false` after a conflict.
    pub(super) async fn try_release(
        &mut self,
        progress: &ReactionProgress,
        subject: &Subject,
    ) -> Result<bool, ReactionError> {
        let mut held = self.holds.subjects().clone();
        held.remove(subject);
        self.write_and_release_lease(progress, held).await
    }

    /// Tries to get the lease on a call.
    pub(super) async fn try_acquire_lease(
        &mut self,
        subject: &Subject,
        task: &ReactionTask,
        progress: &ReactionProgress,
    ) -> Result<LeaseResult, ReactionError> {
        if self.is_task_done(subject, task) {
            return Ok(LeaseResult::AlreadyDone);
        }
        if self.holds.blocks(subject) {
            return Ok(LeaseResult::SubjectIsHeld);
        }
        if self.is_leased_elsewhere() {
            return Ok(LeaseResult::HeldElsewhere);
        }
        let own = self.own_lease().filter(|lease| lease.is_for_task(task));
        let lease = match own {
            Some(own) => own.renewed(LEASE_DURATION),
            None => CallLease::new(self.instance, task.clone(), LEASE_DURATION),
        };
        let held = self.holds.subjects().clone();
        if self.write(progress, Some(lease), held).await? {
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
            let held = self.holds.subjects().clone();
            if self.write(&progress, Some(lease), held).await? {
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

    /// Builds the checkpoint with these held subjects that follows the last known one.
    fn build_checkpoint(
        &self,
        own: &ReactionProgress,
        lease: Option<CallLease>,
        mut held: HeldSubjects,
    ) -> ReactionCheckpoint {
        // A process may have handled more events and have settled fewer deadlines: an event can set a deadline that
        // has passed, and the clock may be behind. A deadline that was met must stay covered.
        let must_rewind = self.holds.must_rewind();
        let known = self
            .last_progress()
            .filter(|known| must_rewind || !own.covers_all_of(known));
        let mut progress = known.unwrap_or(own).clone();
        let holds = self.holds.subjects().iter();
        let released = holds.filter(|(subject, _)| !held.contains_key(*subject));
        let released: Vec<_> = released.flat_map(|(_, one)| &one.done).collect();
        if self.holds.subjects().len() > held.len() {
            progress.include_deadlines_of(own);
        }
        let noted = self.known.iter().flat_map(|known| &known.done);
        let done = noted.chain(&self.done).chain(released);
        let is_open = |task: &&ReactionTask| {
            let is_held = held.values().any(|held| held.done.contains(*task));
            !progress.covers(task) && !is_held
        };
        let done = done.filter(is_open).cloned().collect();
        for held in held.values_mut() {
            held.forget_done(&progress);
        }
        ReactionCheckpoint {
            done,
            progress,
            lease,
            held,
        }
    }

    async fn write(
        &mut self,
        own: &ReactionProgress,
        lease: Option<CallLease>,
        held: HeldSubjects,
    ) -> Result<bool, ReactionError> {
        if self.is_stale {
            self.load_checkpoint().await?;
            return Ok(false);
        }
        let checkpoint = self.build_checkpoint(own, lease, held);
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
                self.holds.replace(checkpoint.held.clone());
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
                Err(append_failure(error))
            }
        }
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
        let subject: Subject = "/invoices/1".parse().unwrap();
        let handled = EventCandidate {
            source: "tests".into(),
            subject: subject.clone(),
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
        first.mark_done(&subject, met.clone());
        let written = first.save_and_release_lease(&progress(5, 20)).await;
        assert!(written.unwrap());
        second.load_checkpoint().await.unwrap();
        let written = second.save_and_release_lease(&progress(8, 7)).await;
        assert!(written.unwrap());
        first.load_checkpoint().await.unwrap();
        assert!(first.is_task_done(&subject, &met));
        // Once the second process has settled as much, its position counts.
        let written = second.save_and_release_lease(&progress(9, 20)).await;
        assert!(written.unwrap());
        assert!(second.is_task_done(&subject, &met));
        assert_eq!(second.last_progress(), Some(&progress(9, 20)));
    }
}
