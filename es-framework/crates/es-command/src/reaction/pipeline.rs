//! The reaction pipeline. Every event and every deadline passes these steps in this order:
//!
//! plan the steps → claim → execute → checkpoint.
//!
//! Commands need no claim. Every process sends them, and their idempotency keys let one take effect.
//! Calls are made by the process that holds the lease, several at once, see `call_ends.rs`. A subject whose step fails is
//! held, see `held_retry.rs`.

use std::{sync::Arc, time::Duration};

use futures_util::StreamExt as _;
use jiff::Timestamp;

use super::{
    ReactionError,
    checkpoint::LeaseResult,
    checkpoint_store::{HEARTBEAT_INTERVAL, LEASE_DURATION},
    deadline_queue::OpenDeadline,
    error::Recovery,
    executor::{StepOfEventView, StepsAfterEvent},
    held_subject::{MAX_HELD_SUBJECTS, report_failure},
    processor::ReactionProcessor,
    reaction_progress::ReactionTask,
    stop_reason::{StepFailure, StopReason},
};
use es_event::{PoisonEvent, RecordedEvent, Subject};
use es_store::{Bound, ReadOptions, newest_id_or_bound};
use es_subscribe::{SubscriberFailure, back_off};

/// The longest pause before the event store is asked again.
const LAST_PAUSE: Duration = Duration::from_secs(60);
/// The interval at which a process checks whether another one has made a call.
const LEASE_POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The most deadlines that are met before the next events.
const MAX_DEADLINES: usize = 500;

/// The outcome of a step.
enum StepOutcome {
    /// It was executed, now or before.
    Done,
    /// Its call was begun.
    CallRuns,
    /// Another process holds the subject or has released it.
    SubjectIsHeld,
}

impl ReactionProcessor {
    /// Handles events, and the deadlines and attempts that are due then.
    pub(super) async fn handle_batch(
        &mut self,
        events: Vec<RecordedEvent>,
    ) -> Result<(), StopReason> {
        self.make_room().await?;
        self.retry_next_subject().await?;
        self.load_if_outdated(&events).await?;
        for event in events {
            self.make_room().await?;
            self.check_rewind()?;
            self.handle_event(event).await?;
        }
        self.meet_due_deadlines().await?;
        self.save_if_due().await?;
        self.check_rewind()
    }

    pub(super) fn check_rewind(&self) -> Result<(), StopReason> {
        if self.checkpoints.holds.must_rewind() {
            return Err(StopReason::Rewind);
        }
        Ok(())
    }

    /// Loads the last checkpoint if another process may have released a subject.
    async fn load_if_outdated(&mut self, events: &[RecordedEvent]) -> Result<(), ReactionError> {
        let is_outdated = events.iter().any(|event| self.checkpoints.is_newer(event));
        if is_outdated && !self.checkpoints.holds.subjects().is_empty() {
            self.checkpoints.load_checkpoint().await?;
        }
        Ok(())
    }

    /// Handles all stored events and due deadlines, including those that follow from them, one after the other.
    pub(super) async fn catch_up(&mut self) -> Result<(), StopReason> {
        loop {
            let before = self.position;
            let options = ReadOptions {
                lower_bound: before.map(Bound::Exclusive),
                ..ReadOptions::recursive()
            };
            let store = Arc::clone(&self.executor.runtime.store);
            let mut events = store.read(Subject::root(), options);
            while let Some(event) = events.next().await {
                self.handle_event(event?).await?;
                self.finish_calls().await?;
            }
            self.meet_due_deadlines().await?;
            while !self.calls.is_idle() || self.has_due_deadline() {
                self.finish_calls().await?;
                self.meet_due_deadlines().await?;
            }
            if self.position == before {
                return Ok(());
            }
        }
    }

    /// Plans and executes the steps that follow from an event. An event of a held or a busy subject waits.
    pub(super) async fn handle_event(&mut self, event: RecordedEvent) -> Result<(), StopReason> {
        let id = event.id;
        self.restart_schedule(&event);
        if self.event_types.contains(&event.event_type) {
            let is_busy = self.calls.is_busy(&event.subject);
            let waits = is_busy && !self.checkpoints.holds.is_waiting(&event);
            if waits || !self.react_or_hold(&event).await? {
                self.calls.push_waiting(event);
                self.hold_hanging_call().await?;
            }
            self.is_dirty = true;
        }
        self.advance_to(id);
        if self.checkpoints.needs_save() {
            self.save_until_stored().await?;
        }
        Ok(())
    }

    /// Plans and executes the steps that follow from an event of a subject that does not wait.
    pub(super) async fn react(&mut self, event: &RecordedEvent) -> Result<(), StepFailure> {
        let plan = match self.executor.plan_steps(event) {
            Ok(plan) => plan,
            // An operator skipped the event.
            Err(_) if self.checkpoints.has_passed(&event.subject, event.id) => {
                StepsAfterEvent::default()
            }
            Err(error) => {
                let poison = report_failure(event, &error);
                if !self.executor.skipped.covers(&poison) {
                    let task = self
                        .executor
                        .build_task(event.id, StepOfEventView::NONE, None);
                    return Err(StepFailure::new(poison, task, error));
                }
                StepsAfterEvent::default()
            }
        };
        self.update_deadlines(event, &plan.cancelled_steps, plan.deadlines);
        for instance in plan.immediate {
            self.execute_until_decided(event, instance, None).await?;
        }
        Ok(())
    }

    /// Executes the steps whose deadlines have passed, up to a limit. All events that might cancel them are handled
    /// before.
    pub(super) async fn meet_due_deadlines(&mut self) -> Result<(), StopReason> {
        if self.deadlines.needs_reload() {
            // The deadlines of events that wait for a call are read again, too.
            self.finish_calls().await?;
            let progress = self.compute_progress();
            self.resume_from(&progress).await?;
        }
        let mut left = MAX_DEADLINES;
        loop {
            let now = self.executor.runtime.services.clock().now();
            if self.find_due(now).is_none() {
                return Ok(());
            }
            let (until, handle_first) = match self.handle_first {
                Some(handle_first) => handle_first,
                None => {
                    let store = &*self.executor.runtime.store;
                    (now, newest_id_or_bound(store, self.position).await?)
                }
            };
            self.handle_first = Some((until, handle_first));
            loop {
                self.make_room().await?;
                let Some(deadline) = self.find_due(until) else {
                    break;
                };
                // Another process may be ahead, and its checkpoint counts for every process.
                let elsewhere = self.checkpoints.position();
                if self.position < handle_first.max(elsewhere) || left == 0 {
                    return Ok(());
                }
                left = left.saturating_sub(1);
                let is_replaced =
                    self.record_start(deadline).await? || self.skip_missed_times(deadline, until);
                if !is_replaced {
                    self.meet_deadline(deadline).await?;
                    self.save_if_due().await?;
                }
            }
            self.handle_first = None;
        }
    }

    /// Returns whether a deadline is due and waits for no event.
    pub(super) fn has_due_deadline(&self) -> bool {
        let has_handled =
            |first| self.position >= first && self.position >= self.checkpoints.position();
        let due = self.handle_first.filter(|(_, first)| has_handled(*first));
        // The clock may have gone back since then.
        let now = self.executor.runtime.services.clock().now();
        due.is_some_and(|(until, _)| self.find_due(until.min(now)).is_some())
    }

    fn find_due(&self, until: Timestamp) -> Option<OpenDeadline> {
        let is_busy = |subject: &Subject| self.calls.is_busy(subject);
        self.deadlines.find_due(until, is_busy)
    }

    async fn meet_deadline(&mut self, deadline: OpenDeadline) -> Result<(), StopReason> {
        let Some(subject) = self.deadlines.find_subject(deadline).cloned() else {
            return Ok(());
        };
        if self.checkpoints.holds.blocks(&subject) {
            self.deadlines.remove_of_subject(&subject, |_| true);
            return Ok(());
        }
        match self.execute_deadline(&subject, deadline).await? {
            Ok(()) => self.close_deadline(deadline, &subject),
            Err(StepFailure::CallRuns) => self.hold_hanging_call().await?,
            Err(failure) => {
                self.hold_at_deadline(&subject, failure, deadline.at)
                    .await?
            }
        }
        self.is_dirty = true;
        if self.checkpoints.needs_save() {
            self.save_until_stored().await?;
        }
        Ok(())
    }

    /// Executes a step until it succeeds or its subject has to wait, for a call or after a failure. Tries again while the
    /// event store is away.
    pub(super) async fn execute_until_decided(
        &mut self,
        event: &RecordedEvent,
        instance: StepOfEventView,
        at: Option<Timestamp>,
    ) -> Result<(), StepFailure> {
        let task = self.executor.build_task(event.id, instance, at);
        let mut pauses = back_off(LAST_PAUSE);
        loop {
            let error = match self.claim_and_execute(event, instance, &task).await {
                Ok(StepOutcome::Done) => {
                    self.record_success();
                    return Ok(());
                }
                Ok(StepOutcome::CallRuns) => return Err(StepFailure::CallRuns),
                Ok(StepOutcome::SubjectIsHeld) => return Err(StepFailure::SubjectIsHeld),
                Err(error) => error,
            };
            let poison = report_failure(event, &error);
            if error.recovery() != Recovery::Wait {
                if self.is_skipped(&poison, &event.subject, error.recovery()) {
                    self.checkpoints.mark_done(&event.subject, task);
                    return Ok(());
                }
                return Err(StepFailure::new(poison, task, error));
            }
            let (reaction, failure) = (self.executor.reaction.name, error.to_failure());
            let error = &poison.reason;
            tracing::warn!(reaction, event = %event.id, subject = %event.subject, error, "a reaction fails and retries");
            self.executor.progress.record_failure(SubscriberFailure {
                reason: error.clone(),
                is_transient: true,
                ..failure
            });
            self.sleep_with_lease(pauses.next().unwrap_or(LAST_PAUSE))
                .await;
        }
    }

    /// Records that the reaction works, unless it may not be able to hold another subject.
    pub(super) fn record_success(&self) {
        if self.checkpoints.holds.subjects().len() < MAX_HELD_SUBJECTS {
            self.executor.progress.record_success();
        }
    }

    /// Returns true if an operator skips the event at which a step fails. Before the last attempt, only an
    /// operator who names the event skips it.
    pub(super) fn is_skipped(
        &self,
        poison: &PoisonEvent,
        subject: &Subject,
        recovery: Recovery,
    ) -> bool {
        let held = self.checkpoints.holds.find(subject);
        let attempts = held.map_or(0, |held| held.attempts).saturating_add(1);
        let is_last = recovery == Recovery::Hold || attempts >= self.executor.reaction.attempts;
        let skipped = &self.executor.skipped;
        is_last && skipped.covers(poison) || skipped.covers_by_id(poison)
    }

    /// Executes a step once, unless it was executed before. A call is claimed first, and runs on.
    async fn claim_and_execute(
        &mut self,
        event: &RecordedEvent,
        instance: StepOfEventView,
        task: &ReactionTask,
    ) -> Result<StepOutcome, ReactionError> {
        if self.checkpoints.is_task_done(&event.subject, task) {
            return Ok(StepOutcome::Done);
        }
        if self.executor.makes_call(instance) {
            return self.claim_and_begin_call(event, instance, task).await;
        }
        let executing = self.executor.execute_step(event, instance, task.at);
        let mut executing = std::pin::pin!(executing);
        tokio::select! {
            biased;
            executed = &mut executing => executed?,
            // Calls run meanwhile.
            () = self.checkpoints.renew_until_lost() => executing.await?,
        }
        Ok(StepOutcome::Done)
    }

    /// Waits for the lease on a call, and begins the call.
    async fn claim_and_begin_call(
        &mut self,
        event: &RecordedEvent,
        instance: StepOfEventView,
        task: &ReactionTask,
    ) -> Result<StepOutcome, ReactionError> {
        loop {
            if self.checkpoints.has_lost_lease() {
                self.lose_calls();
                return Ok(StepOutcome::SubjectIsHeld);
            }
            let progress = self.compute_progress();
            let claiming = self
                .checkpoints
                .try_acquire_lease(&event.subject, task, &progress);
            match claiming.await? {
                LeaseResult::Acquired => break,
                LeaseResult::AlreadyDone => return Ok(StepOutcome::Done),
                LeaseResult::SubjectIsHeld => return Ok(StepOutcome::SubjectIsHeld),
                LeaseResult::Conflict => {}
                LeaseResult::HeldElsewhere => {
                    tokio::time::sleep(LEASE_POLL_INTERVAL).await;
                    self.checkpoints.load_checkpoint().await?;
                }
            }
        }
        let held = self.checkpoints.holds.find(&event.subject);
        let attempts = held.map(|held| held.attempts);
        let (executor, at, of) = (self.executor.clone(), task.at, event.clone());
        let call = async move { executor.execute_step(&of, instance, at).await };
        self.calls.begin(event, task.clone(), attempts, call);
        self.checkpoints.keeps_lease = true;
        Ok(StepOutcome::CallRuns)
    }

    /// Appends a checkpoint with the calls that were made. Retries while the event store is
    /// unavailable. Without the checkpoint, a restart would repeat the calls.
    pub(super) async fn save_until_stored(&mut self) -> Result<(), ReactionError> {
        let mut pauses = back_off(LEASE_DURATION);
        loop {
            match self.save_checkpoint().await {
                Err(error) if error.recovery() == Recovery::Wait => {
                    self.wait_for_store(&error, pauses.next()).await;
                }
                saved => return saved,
            }
        }
    }

    /// Reports that a checkpoint cannot be saved, and waits for the next attempt.
    pub(super) async fn wait_for_store(&mut self, error: &ReactionError, pause: Option<Duration>) {
        let reaction = self.executor.reaction.name;
        tracing::warn!(reaction, %error, "a reaction cannot save its checkpoint and retries");
        self.executor.progress.record_failure(error.to_failure());
        self.sleep_with_lease(pause.unwrap_or(LEASE_DURATION)).await;
    }

    /// Sleeps, unless an operator wants another attempt. Before a long sleep, extends the lease of this process by the same time.
    async fn sleep_with_lease(&mut self, pause: Duration) {
        if pause > HEARTBEAT_INTERVAL && self.checkpoints.has_lease() {
            // A lease that cannot be renewed is claimed again.
            let duration = LEASE_DURATION.saturating_add(pause);
            let _ = self.checkpoints.renew_lease(duration).await;
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = self.executor.progress.wait_for_requested_attempt() => {}
        }
    }
}
