//! The reaction pipeline. Every event and every deadline passes these steps in this order:
//!
//! plan the steps → claim → execute → checkpoint.
//!
//! Commands need no claim. Every process sends them, and their idempotency keys let one take effect.
//! A call is made by the process that holds the lease on it.

use std::{sync::Arc, time::Duration};

use futures_util::StreamExt as _;
use jiff::Timestamp;

use super::{
    PoisonEvent, ReactionError,
    checkpoint::ReactionTask,
    checkpoint_store::{CheckpointStore, HEARTBEAT_INTERVAL, LEASE_DURATION, LeaseResult},
    deadline_queue::OpenDeadline,
    error::Recovery,
    executor::{StepOfEventView, StepsAfterEvent},
    graceful_stop::CallPermit,
    parked::{ParkReason, StopReason},
    processor::ReactionProcessor,
};
use es_event::{RecordedEvent, Subject};
use es_store::{Bound, ReadOptions, StoreError, event_with_id, newest_id_or_bound};
use es_subscribe::{SubscriberFailure, back_off};

/// The longest pause between two attempts to execute a step.
const LAST_PAUSE: Duration = Duration::from_secs(60);
/// The interval at which a process checks whether another one has made a call.
const LEASE_POLL_INTERVAL: Duration = Duration::from_millis(200);

impl ReactionProcessor {
    /// Handles events, and the deadlines that are due then.
    pub(super) async fn handle_batch(
        &mut self,
        events: Vec<RecordedEvent>,
    ) -> Result<(), StopReason> {
        for event in events {
            self.handle_event(event).await?;
        }
        self.meet_due_deadlines().await?;
        self.save_if_due().await?;
        Ok(())
    }

    /// Handles all stored events and due deadlines, including those that follow from them.
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
            }
            self.meet_due_deadlines().await?;
            if self.position == before {
                return Ok(());
            }
        }
    }

    /// Plans and executes the steps that follow from an event.
    pub(super) async fn handle_event(&mut self, event: RecordedEvent) -> Result<(), StopReason> {
        if self.event_types.contains(&event.event_type) {
            let plan = match self.executor.plan_steps(&event) {
                Ok(plan) => plan,
                // An operator skipped the event.
                Err(_) if self.checkpoints.has_passed(event.id) => StepsAfterEvent::default(),
                Err(error) => {
                    let parked = ParkReason::new(&event, None, error);
                    if !self.executor.skipped.covers(parked.poison()) {
                        return Err(parked.into());
                    }
                    StepsAfterEvent::default()
                }
            };
            self.update_deadlines(&event, &plan.cancelled_steps, plan.deadlines);
            for instance in plan.immediate {
                self.execute_with_retries(&event, instance, None).await?;
            }
            self.is_dirty = true;
        }
        self.advance_to(event.id);
        if self.checkpoints.needs_save() {
            self.save_until_stored().await?;
        }
        Ok(())
    }

    /// Executes the steps whose deadlines have passed. All events that might cancel them are handled
    /// before.
    pub(super) async fn meet_due_deadlines(&mut self) -> Result<(), StopReason> {
        if self.deadlines.needs_reload() {
            let progress = self.compute_progress();
            self.resume_from(&progress).await?;
        }
        loop {
            let now = self.executor.runtime.services.clock().now();
            if self.deadlines.find_due(now).is_none() {
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
            while let Some(deadline) = self.deadlines.find_due(until) {
                // Another process may be ahead, and its checkpoint counts for every process.
                let elsewhere = self.checkpoints.last_progress();
                let elsewhere = elsewhere.and_then(|progress| progress.position);
                if self.position < handle_first.max(elsewhere) {
                    return Ok(());
                }
                self.meet_deadline(deadline).await?;
            }
            self.handle_first = None;
        }
    }

    async fn meet_deadline(&mut self, deadline: OpenDeadline) -> Result<(), StopReason> {
        let OpenDeadline { step, view, .. } = deadline;
        let instance = StepOfEventView { step, view };
        let event = match event_with_id(&*self.executor.runtime.store, deadline.event).await {
            Err(error @ StoreError::Corrupt { .. }) => {
                let poison = PoisonEvent::unreadable(deadline.event, &error);
                let task = self
                    .executor
                    .build_task(deadline.event, instance, Some(deadline.at));
                let is_skipped =
                    self.checkpoints.is_task_done(&task) || self.executor.skipped.covers(&poison);
                if !is_skipped {
                    return Err(ParkReason::unreadable(poison, Some(task)).into());
                }
                None
            }
            found => found?,
        };
        if let Some(event) = event {
            self.execute_with_retries(&event, instance, Some(deadline.at))
                .await?;
        }
        self.deadlines.remove(deadline);
        self.is_dirty = true;
        if self.checkpoints.needs_save() {
            self.save_until_stored().await?;
        }
        Ok(())
    }

    /// Executes a step until it succeeds or has to be parked.
    async fn execute_with_retries(
        &mut self,
        event: &RecordedEvent,
        instance: StepOfEventView,
        at: Option<Timestamp>,
    ) -> Result<(), StopReason> {
        let task = self.executor.build_task(event.id, instance, at);
        let (mut pauses, mut attempts) = (back_off(LAST_PAUSE), 0_u32);
        loop {
            let Err(error) = self.claim_and_execute(event, instance, &task).await else {
                self.executor.progress.record_success();
                return Ok(());
            };
            attempts = match error.recovery() {
                Recovery::Park => self.executor.reaction.attempts,
                Recovery::Wait => attempts,
                Recovery::Retry => attempts.saturating_add(1),
            };
            let has_failed = attempts >= self.executor.reaction.attempts;
            let recovery = error.recovery();
            let failure = error.to_failure();
            let parked = ParkReason::new(event, Some(task.clone()), error);
            if recovery != Recovery::Wait && self.is_skipped(parked.poison(), has_failed) {
                self.checkpoints.mark_done(task);
                self.executor.progress.record_success();
                return Ok(());
            }
            if has_failed {
                return Err(parked.into());
            }
            let reaction = self.executor.reaction.name;
            let error = &parked.poison().reason;
            tracing::warn!(reaction, event = %event.id, subject = %event.subject, error, "a reaction fails and retries");
            self.executor.progress.record_failure(SubscriberFailure {
                reason: error.clone(),
                event: Some(parked.poison().clone()),
                is_transient: true,
                ..failure
            });
            self.sleep_with_lease(pauses.next().unwrap_or(LAST_PAUSE))
                .await;
        }
    }

    /// Returns true if an operator skips the event at which a step fails. Before the last attempt, only an
    /// operator who names the event skips it.
    fn is_skipped(&self, poison: &PoisonEvent, has_failed: bool) -> bool {
        let skipped = &self.executor.skipped;
        has_failed && skipped.covers(poison) || skipped.covers_by_id(poison)
    }

    /// Executes a step once, unless it was executed before. A call is claimed first.
    async fn claim_and_execute(
        &mut self,
        event: &RecordedEvent,
        instance: StepOfEventView,
        task: &ReactionTask,
    ) -> Result<(), ReactionError> {
        if self.checkpoints.is_task_done(task) {
            return Ok(());
        }
        if !self.executor.makes_call(instance) {
            return self.executor.execute_step(event, instance).await;
        }
        let Some(_permit) = self.acquire_lease(task).await? else {
            return Ok(());
        };
        tokio::select! {
            biased;
            result = self.executor.execute_step(event, instance) => result?,
            () = renew_until_lost(&mut self.checkpoints) => return Err(ReactionError::TakenOver),
        }
        self.checkpoints.mark_done(task.clone());
        Ok(())
    }

    /// Waits for the lease on a call. Returns `None` if another process has made the call.
    async fn acquire_lease(
        &mut self,
        task: &ReactionTask,
    ) -> Result<Option<CallPermit>, ReactionError> {
        loop {
            let permit = Arc::clone(&self.calls).lock_owned().await;
            let progress = self.compute_progress();
            match self.checkpoints.try_acquire_lease(task, &progress).await? {
                LeaseResult::Acquired => return Ok(Some(permit)),
                LeaseResult::AlreadyDone => return Ok(None),
                LeaseResult::Conflict => {}
                LeaseResult::HeldElsewhere => {
                    drop(permit);
                    tokio::time::sleep(LEASE_POLL_INTERVAL).await;
                    self.checkpoints.load_checkpoint().await?;
                }
            }
        }
    }

    /// Appends a checkpoint with the calls that were made. Retries while the event store is
    /// unavailable. Without the checkpoint, a restart would repeat the calls.
    async fn save_until_stored(&mut self) -> Result<(), ReactionError> {
        let mut pauses = back_off(LEASE_DURATION);
        loop {
            match self.save_checkpoint().await {
                Err(error) if error.recovery() == Recovery::Wait => {
                    let reaction = self.executor.reaction.name;
                    tracing::warn!(reaction, %error, "a reaction cannot save its checkpoint and retries");
                    self.executor.progress.record_failure(error.to_failure());
                }
                saved => return saved,
            }
            self.sleep_with_lease(pauses.next().unwrap_or(LEASE_DURATION))
                .await;
        }
    }

    /// Sleeps, unless an operator wants another attempt. Before a long sleep, extends the lease of this process by the same time.
    async fn sleep_with_lease(&mut self, pause: Duration) {
        if pause > HEARTBEAT_INTERVAL && self.checkpoints.needs_save() {
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

/// Renews a lease during a call. Returns when another process has taken the lease.
async fn renew_until_lost(checkpoints: &mut CheckpointStore) {
    loop {
        tokio::time::sleep(HEARTBEAT_INTERVAL).await;
        match checkpoints.renew_lease(LEASE_DURATION).await {
            Ok(true) => {}
            Ok(false) => return,
            // An unavailable event store does not cancel a running call.
            Err(error) => tracing::debug!(%error, "the lease on a call is not renewed"),
        }
    }
}
