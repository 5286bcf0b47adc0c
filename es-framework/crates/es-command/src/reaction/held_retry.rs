//! Holds a subject at an event or a deadline that cannot be handled, and handles its events again later.

use std::sync::Arc;

use futures_util::StreamExt as _;
use jiff::Timestamp;

use super::{
    ReactionError,
    checkpoint_store::LEASE_DURATION,
    deadline_queue::OpenDeadline,
    error::Recovery,
    executor::StepOfEventView,
    held_subject::{HeldSubject, MAX_HELD_SUBJECTS},
    processor::ReactionProcessor,
    reaction_progress::ReactionProgress,
    running_calls::before,
    stop_reason::{FailedStep, StepFailure, StopReason},
};
use es_event::{EventId, EventSelection, PoisonEvent, RecordedEvent, Subject};
use es_store::{Bound, ReadOptions, StoreError, event_with_id};
use es_subscribe::{SubscriberFailure, TroubleCause, back_off};

impl ReactionProcessor {
    /// Handles the failure of a step at an event.
    pub(super) async fn hold_at_event(
        &mut self,
        event: &RecordedEvent,
        failure: StepFailure,
    ) -> Result<(), StopReason> {
        let time = event.time.timestamp().unwrap_or_default();
        self.hold(&event.subject, failure, before(event.id), time)
            .await?;
        if self.checkpoints.holds.is_waiting(event) {
            self.checkpoints.holds.count(event);
        }
        Ok(())
    }

    /// Handles the failure of a step at a deadline. All known events of the subject were handled, but those that wait.
    pub(super) async fn hold_at_deadline(
        &mut self,
        subject: &Subject,
        failure: StepFailure,
        at: Timestamp,
    ) -> Result<(), StopReason> {
        let passed = match self.calls.first_waiting(subject) {
            Some(event) => before(event.id),
            None => self.position.max(self.checkpoints.position()),
        };
        self.hold(subject, failure, passed, at).await
    }

    /// Saves a checkpoint in which the subject waits. Its events up to `passed` were handled.
    async fn hold(
        &mut self,
        subject: &Subject,
        failure: StepFailure,
        passed: Option<EventId>,
        time: Timestamp,
    ) -> Result<(), StopReason> {
        let StepFailure::Failed(failed) = failure else {
            self.deadlines.remove_of_subject(subject, |_| true);
            return Ok(());
        };
        if self.is_strict {
            return Err(failed.error.into());
        }
        // Another process may have recorded the choice of an operator to skip the event. Without the event store, the
        // choice counts at the next attempt.
        let _ = self.executor.load_skipped().await;
        let is_retried = self.checkpoints.holds.find(subject).is_some();
        let mut pauses = back_off(LEASE_DURATION);
        loop {
            let holds = &self.checkpoints.holds;
            let is_settled = if is_retried {
                holds.blocks(subject)
            } else {
                // Another process may hold the subject, or may have handled the event.
                holds.find(subject).is_some()
                    || self.checkpoints.is_task_done(subject, &failed.task)
            };
            if is_settled {
                break;
            }
            if !is_retried && holds.subjects().len() >= MAX_HELD_SUBJECTS {
                // The next attempt begins behind all that was handled.
                let position = self.compute_progress().position;
                if self.checkpoints.needs_save() || position > self.checkpoints.position() {
                    self.save_until_stored().await?;
                }
                return Err(StopReason::Limit(limit_failure(&failed)));
            }
            let progress = self.compute_progress();
            let held = self.build_hold(subject, &failed, (passed, time), &progress);
            match self.checkpoints.try_hold(&progress, subject, held).await {
                Ok(true) => {
                    self.log_hold(subject, &failed.poison);
                    break;
                }
                Ok(false) => {}
                // The calls that were made before the failing step are recorded with it.
                Err(error) if error.recovery() == Recovery::Wait => {
                    self.wait_for_store(&error, pauses.next()).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
        if self.checkpoints.holds.find(subject).is_some() {
            self.deadlines.remove_of_subject(subject, |_| true);
        }
        Ok(())
    }

    fn build_hold(
        &self,
        subject: &Subject,
        failed: &FailedStep,
        (passed, time): (Option<EventId>, Timestamp),
        whole: &ReactionProgress,
    ) -> HeldSubject {
        let poison = failed.poison.clone();
        let held = self.checkpoints.holds.find(subject).cloned();
        let mut held = held.unwrap_or_else(|| {
            let first_open = self.deadlines.first_open_event_of(subject);
            let progress = ReactionProgress {
                position: passed,
                open_from: Some(first_open.map_or(poison.id, |first| first.min(poison.id))),
                ..whole.clone()
            };
            HeldSubject::new(progress, poison.clone(), time)
        });
        held.record_failure(poison, time);
        let is_call = failed.error.recovery() != Recovery::Hold;
        let is_call = is_call && held.attempts < self.executor.reaction.attempts;
        if is_call || self.executor.skipped.covers(&failed.poison) {
            held.retry_later(self.executor.runtime.services.clock().now());
        }
        held
    }

    fn log_hold(&self, subject: &Subject, poison: &PoisonEvent) {
        let reaction = self.executor.reaction.name;
        let held = self.checkpoints.holds.find(subject);
        let (event, error) = (poison.id.get(), &poison.reason);
        match held.and_then(|held| held.next_attempt) {
            Some(next) => {
                tracing::warn!(reaction, %subject, event, error, %next, "a reaction fails and retries; all other subjects go on");
            }
            None => {
                tracing::error!(reaction, %subject, event, error, "a reaction holds a subject; all others go on");
            }
        }
    }

    /// Retries one held subject, if its time has come.
    pub(super) async fn retry_next_subject(&mut self) -> Result<(), StopReason> {
        if self.calls.is_full_of_retries() {
            return Ok(());
        }
        let now = self.executor.runtime.services.clock().now();
        let waiting = self.checkpoints.holds.subjects().iter();
        let due =
            waiting.filter(|(subject, held)| held.is_due(now) && !self.calls.is_busy(subject));
        let due = due.map(|(subject, held)| (held.next_attempt, subject));
        let due = due.min();
        let due = due.map(|(_, subject)| subject.clone());
        if let Some(subject) = self.retry_now.pop().or(due) {
            self.retry_subject(&subject).await?;
        }
        Ok(())
    }

    /// Lets other processes make the attempts that this one does not make any more.
    pub(super) fn leave_retries(&mut self) {
        let now = self.executor.runtime.services.clock().now();
        for subject in self.retry_now.drain(..) {
            if let Some(held) = self.checkpoints.holds.find_mut(&subject) {
                held.next_attempt = Some(now);
            }
        }
    }

    /// Returns the selected held subjects, or all of them, which are retried next.
    pub(super) async fn request_retries(
        &mut self,
        selection: Option<&EventSelection>,
    ) -> Result<Vec<Subject>, ReactionError> {
        self.checkpoints.load_checkpoint().await?;
        if selection.is_none() {
            self.restart_schedules_ahead().await?;
        }
        let held = self.checkpoints.holds.subjects().iter();
        let selected = held.filter(|(subject, held)| held.to_key(subject).is_selected(selection));
        let selected: Vec<Subject> = selected.map(|(subject, _)| subject.clone()).collect();
        let new = selected.iter().filter(|one| !self.retry_now.contains(one));
        self.retry_now.extend(new.cloned().collect::<Vec<_>>());
        Ok(selected)
    }

    /// Makes one attempt that is due at once. Returns whether attempts with these subjects go on.
    pub(super) async fn advance_retries(
        &mut self,
        selected: &[Subject],
    ) -> Result<bool, StopReason> {
        self.make_room().await?;
        self.retry_next_subject().await?;
        let goes_on = |one| self.retry_now.contains(one) || self.calls.is_busy(one);
        Ok(selected.iter().any(goes_on))
    }

    /// Returns whether an attempt or a deadline need not wait for anything.
    pub(super) fn has_work(&self) -> bool {
        let has_retry = !self.retry_now.is_empty() && !self.calls.is_full_of_retries();
        has_retry || self.has_due_deadline()
    }

    /// Handles the events and the deadlines of a held subject again, up to a call. The end of the call goes on.
    async fn retry_subject(&mut self, subject: &Subject) -> Result<(), StopReason> {
        if self.calls.is_busy(subject) {
            return Ok(());
        }
        self.checkpoints.load_checkpoint().await?;
        let Some(held) = self.checkpoints.holds.begin_retry(subject) else {
            return Ok(());
        };
        let replayed = self.replay(subject, &held.progress).await;
        self.checkpoints.holds.end_retry();
        let is_held = self.checkpoints.holds.find(subject).is_some();
        if is_held {
            self.deadlines.remove_of_subject(subject, |_| true);
        } else {
            tracing::info!(reaction = self.executor.reaction.name, %subject, "a reaction no longer holds a subject");
        }
        self.publish_progress();
        replayed
    }

    /// Handles the events and deadlines of a subject beyond its progress, and releases it.
    async fn replay(
        &mut self,
        subject: &Subject,
        progress: &ReactionProgress,
    ) -> Result<(), StopReason> {
        let mut next = progress.open_from.unwrap_or(EventId::FIRST);
        self.reopen_schedule_of(subject);
        loop {
            let known = self.checkpoints.last_id();
            let is_replayed = self.replay_events(subject, progress, &mut next).await?
                && self.replay_deadlines(subject).await?;
            if !is_replayed || self.checkpoints.holds.blocks(subject) {
                return Ok(());
            }
            // A newer checkpoint may cover events that were stored after the read.
            if self.checkpoints.last_id() != known {
                continue;
            }
            let whole = self.compute_progress();
            let is_released = self.checkpoints.try_release(&whole, subject).await?;
            if is_released || self.checkpoints.holds.blocks(subject) {
                return Ok(());
            }
        }
    }

    /// Handles all stored events of a subject from `next` on, also those that the reaction has not reached yet, because
    /// they may cancel deadlines. Returns false if the subject waits again.
    async fn replay_events(
        &mut self,
        subject: &Subject,
        progress: &ReactionProgress,
        next: &mut EventId,
    ) -> Result<bool, StopReason> {
        let options = ReadOptions {
            lower_bound: Some(Bound::Inclusive(*next)),
            ..ReadOptions::default()
        };
        let store = Arc::clone(&self.executor.runtime.store);
        let mut events = store.read(subject.clone(), options);
        while let Some(event) = events.next().await {
            let event = match event {
                Err(error @ StoreError::Corrupt { .. }) => {
                    self.keep_held(subject, &error).await?;
                    return Ok(false);
                }
                event => event?,
            };
            *next = event.id.next().unwrap_or(event.id);
            if !self.event_types.contains(&event.event_type) {
                continue;
            }
            if progress.has_passed(event.id) {
                self.restore_deadlines(progress, &event);
                continue;
            }
            if let Err(failure) = self.react(&event).await {
                self.hold_at_event(&event, failure).await?;
                return Ok(false);
            }
            let first_open = self.deadlines.first_open_event_of(subject);
            if let Some(held) = self.checkpoints.holds.find_mut(subject) {
                held.advance_to(event.id, first_open);
            }
            if self.checkpoints.needs_save() {
                self.save_until_stored().await?;
            }
        }
        Ok(true)
    }

    /// Meets the deadlines of a subject that passed while it was held. Returns false if the subject waits again.
    async fn replay_deadlines(&mut self, subject: &Subject) -> Result<bool, StopReason> {
        let now = self.executor.runtime.services.clock().now();
        let known = self.checkpoints.last_progress();
        let until = known.map_or(now, |known| known.settled.max(now));
        while let Some(deadline) = self.deadlines.find_due_of(subject, until) {
            if self.skip_missed_times(deadline, until) {
                continue;
            }
            if let Err(failure) = self.execute_deadline(subject, deadline).await? {
                self.hold_at_deadline(subject, failure, deadline.at).await?;
                return Ok(false);
            }
            self.close_deadline(deadline, subject);
            if self.checkpoints.needs_save() {
                self.save_until_stored().await?;
            }
        }
        Ok(true)
    }

    /// Executes a step at its deadline.
    pub(super) async fn execute_deadline(
        &mut self,
        subject: &Subject,
        deadline: OpenDeadline,
    ) -> Result<Result<(), StepFailure>, StopReason> {
        let OpenDeadline {
            at,
            event,
            step,
            view,
        } = deadline;
        let instance = StepOfEventView { step, view };
        let event = match event_with_id(&*self.executor.runtime.store, event).await {
            Err(error @ StoreError::Corrupt { .. }) => {
                let task = self.executor.build_task(event, instance, Some(at));
                let poison = PoisonEvent::unreadable(event, &error);
                let is_skipped = self.executor.skipped.covers(&poison);
                if is_skipped || self.checkpoints.is_task_done(subject, &task) {
                    return Ok(Ok(()));
                }
                return Ok(Err(StepFailure::new(poison, task, error.into())));
            }
            event => event?,
        };
        match event {
            Some(event) => Ok(self.execute_until_decided(&event, instance, Some(at)).await),
            None => Ok(Ok(())),
        }
    }

    /// Lets a subject wait for another attempt, because the event store cannot read one of its events.
    async fn keep_held(&mut self, subject: &Subject, error: &StoreError) -> Result<(), StopReason> {
        let reaction = self.executor.reaction.name;
        tracing::error!(reaction, %subject, %error, "the event store cannot read the events of a held subject");
        let Some(mut held) = self.checkpoints.holds.find(subject).cloned() else {
            return Ok(());
        };
        held.attempts = held.attempts.saturating_add(1);
        held.next_attempt = None;
        let progress = self.compute_progress();
        self.checkpoints.try_hold(&progress, subject, held).await?;
        Ok(())
    }
}

/// Returns the failure of a reaction that cannot hold another subject. It tries again, because subjects may be released.
fn limit_failure(failed: &FailedStep) -> SubscriberFailure {
    let is_call = failed.error.recovery() == Recovery::Retry;
    let advice = if is_call {
        "the other system has failed for many subjects"
    } else {
        "the code is wrong rather than the events"
    };
    let reason = format!(
        "it holds {MAX_HELD_SUBJECTS} subjects, so {advice}: {}",
        failed.poison
    );
    SubscriberFailure::new(TroubleCause::Action, is_call, reason)
}
