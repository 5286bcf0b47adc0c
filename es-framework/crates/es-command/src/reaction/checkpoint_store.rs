//! Reads and appends the checkpoints of one reaction. Each append has the precondition that no newer checkpoint follows the last known one.

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep_until};
use uuid::Uuid;

use super::{
    ReactionError,
    checkpoint::{CHECKPOINT_TYPE, CallLease, LeaseResult, ReactionCheckpoint},
    error::append_failure,
    foreign_lease::ForeignLease,
    held_subject::{HeldSubject, HeldSubjects},
    reaction_progress::{ReactionProgress, ReactionTask},
    stored_checkpoint::StoredCheckpoint,
    subject_holds::SubjectHolds,
};
use es_event::{
    EventCandidate, EventId, InvalidSubjectValue, Metadata, RecordedEvent, Subject,
    SubjectTemplatePart,
};
use es_store::{AppendError, EventLog, Precondition, StoreError, event_with_id};

/// A lease expires after this time without a renewal.
pub(super) const LEASE_DURATION: Duration = Duration::from_secs(10);
/// The time between two renewals of a lease.
pub(super) const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(3);
/// The most finished tasks beyond the progress. Only a wrong clock leads to so many.
const MAX_DONE: usize = 200;

/// The checkpoints of one reaction.
#[derive(Debug)]
pub(super) struct CheckpointStore {
    store: Arc<dyn EventLog>,
    source: Arc<str>,
    subject: Subject,
    instance: Uuid,
    /// The event id of the last known checkpoint.
    last: Option<EventId>,
    known: Option<ReactionCheckpoint>,
    /// True if an append had an unknown result, so that the last checkpoint must be loaded.
    is_stale: bool,
    /// The tasks that this process finished and no checkpoint records yet, with their subjects.
    done: Vec<(Subject, ReactionTask)>,
    /// The held subjects.
    pub(super) holds: SubjectHolds,
    foreign: ForeignLease,
    /// True while calls of this process run, for which it keeps the lease.
    pub(super) keeps_lease: bool,
    /// The time of the last append.
    written_at: Instant,
}

impl CheckpointStore {
    pub(super) fn new(
        reaction: &'static str,
        store: Arc<dyn EventLog>,
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
            foreign: ForeignLease::default(),
            keeps_lease: false,
            written_at: Instant::now(),
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
            .retain(|(_, task)| !known.is_some_and(|known| known.is_task_done(task)));
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
        self.done.iter().any(|(_, done)| done == task)
            || known.is_some_and(|known| known.is_task_done(task))
    }

    /// Marks a task on this subject as finished. The next checkpoint records it.
    pub(super) fn mark_done(&mut self, subject: &Subject, task: ReactionTask) {
        match self.holds.find_mut(subject) {
            Some(held) => held.mark_done(task),
            None => self.done.push((subject.clone(), task)),
        }
    }

    /// Returns true if finished tasks are not in a checkpoint, or if this process holds a lease that it does not need and
    /// for which other processes wait.
    pub(super) fn needs_save(&self) -> bool {
        !self.done.is_empty() || !self.keeps_lease && self.own_lease().is_some()
    }

    /// Returns the number of finished tasks beyond the progress.
    pub(super) fn count_done(&self) -> usize {
        let known = self.known.as_ref().map_or(0, |known| known.done.len());
        self.done.len().saturating_add(known)
    }

    /// Returns whether another process has taken the lease that this one needs for its calls.
    pub(super) fn has_lost_lease(&self) -> bool {
        self.keeps_lease && self.own_lease().is_none()
    }

    /// Returns whether this process holds the lease.
    pub(super) fn has_lease(&self) -> bool {
        self.own_lease().is_some()
    }

    /// Appends a checkpoint. Releases a lease of this process that it does not need. Returns `false` after a conflict.
    /// After an error, the next call loads the last checkpoint first.
    pub(super) async fn save(
        &mut self,
        progress: &ReactionProgress,
    ) -> Result<bool, ReactionError> {
        let held = self.holds.subjects().clone();
        self.write_with_holds(progress, held).await
    }

    async fn write_with_holds(
        &mut self,
        progress: &ReactionProgress,
        held: HeldSubjects,
    ) -> Result<bool, ReactionError> {
        let own = self.own_lease().filter(|_| self.keeps_lease);
        let lease = own.map(|own| own.renewed(LEASE_DURATION));
        let lease = lease.or_else(|| self.foreign_lease().cloned());
        self.write(progress, lease, held).await
    }

    /// Saves that a subject waits in this state. Returns `false` after a conflict.
    pub(super) async fn try_hold(
        &mut self,
        progress: &ReactionProgress,
        subject: &Subject,
        mut state: HeldSubject,
    ) -> Result<bool, ReactionError> {
        // The progress of the whole reaction may pass these tasks before the subject is handled again.
        let known = self.known.iter().flat_map(|known| &known.done);
        let done = known.chain(self.done.iter().map(|(_, task)| task));
        let done: Vec<_> = done.filter(|task| !state.is_task_done(task)).collect();
        for task in done {
            let event = match event_with_id(&*self.store, task.event).await {
                Err(StoreError::Corrupt { .. }) => None,
                event => event?,
            };
            if event.is_some_and(|event| event.subject == *subject) {
                state.mark_done(task.clone());
            }
        }
        let mut held = self.holds.subjects().clone();
        held.insert(subject.clone(), state);
        self.write_with_holds(progress, held).await
    }

    /// Saves that a subject waits no longer. Returns `false` after a conflict.
    pub(super) async fn try_release(
        &mut self,
        progress: &ReactionProgress,
        subject: &Subject,
    ) -> Result<bool, ReactionError> {
        let mut held = self.holds.subjects().clone();
        held.remove(subject);
        self.write_with_holds(progress, held).await
    }

    /// Tries to get the lease on a call. The lease that this process keeps for other calls is enough.
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
        let own = self.own_lease();
        if own.is_some() && self.keeps_lease && !self.is_stale {
            return Ok(LeaseResult::Acquired);
        }
        let lease = match own {
            Some(own) => own.renewed(LEASE_DURATION),
            None => CallLease::new(self.instance, task.clone(), LEASE_DURATION, self.last),
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
        let lease = self.known.as_ref().and_then(|known| known.lease.as_ref());
        let lease = lease.filter(|lease| !lease.belongs_to(self.instance));
        lease.is_some_and(|lease| self.foreign.is_valid(lease))
    }

    /// Renews the lease when it is time. Returns `false` if the lease is lost.
    pub(super) async fn renew_if_due(&mut self) -> bool {
        if self.keeps_lease && self.written_at.elapsed() >= HEARTBEAT_INTERVAL {
            match self.renew_lease(LEASE_DURATION).await {
                Ok(is_own) => return is_own,
                // An unavailable event store does not cancel a running call.
                Err(error) => tracing::debug!(%error, "the lease on a call is not renewed"),
            }
            self.written_at = Instant::now();
        }
        !self.has_lost_lease()
    }

    /// Renews the lease while calls run. Returns when another process has taken it.
    pub(super) async fn renew_until_lost(&mut self) {
        if !self.keeps_lease {
            std::future::pending::<()>().await;
        }
        while self.renew_if_due().await {
            let next = self.written_at.checked_add(HEARTBEAT_INTERVAL);
            sleep_until(next.unwrap_or(self.written_at)).await;
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
        let known = self.last_progress().filter(|known| {
            // A clock that was far ahead has settled deadlines of the future. Progress does not wait for them for ever,
            // although a call that was made for one of them can be made again then.
            let is_stuck = own.position >= known.position && self.count_done() >= MAX_DONE;
            must_rewind || !own.covers_all_of(known) && !is_stuck
        });
        let mut progress = known.unwrap_or(own).clone();
        let holds = self.holds.subjects().iter();
        let released = holds.filter(|(subject, _)| !held.contains_key(*subject));
        let released: Vec<_> = released.flat_map(|(_, one)| &one.done).collect();
        if self.holds.subjects().len() > held.len() {
            progress.include_deadlines_of(own);
        }
        let noted = self.known.iter().flat_map(|known| &known.done);
        let own = self.done.iter().map(|(_, task)| task);
        let done = noted.chain(own).chain(released);
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
                self.written_at = Instant::now();
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
