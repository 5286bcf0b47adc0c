//! The processor of one reaction: its position, its open deadlines and its checkpoint.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::StreamExt as _;
use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use super::{
    ReactionError, StartPosition,
    checkpoint_store::CheckpointStore,
    deadline_queue::{DeadlineQueue, OpenDeadline},
    executor::{ReactionExecutor, StepOfEventView},
    reaction_progress::ReactionProgress,
    running_calls::RunningCalls,
    schedule_start::ScheduleStart,
};
use es_event::{EventId, EventType, RecordedEvent, Subject};
use es_store::{Bound, ReadOptions, StoreError, newest_id};
use es_subscribe::OpenDeadlines;

/// The interval between two checkpoints of a reaction that handles events.
const SAVE_INTERVAL: Duration = Duration::from_secs(1);
/// The number of events since the last checkpoint after which a reaction saves one even if it handled none of
/// them.
const SAVE_AFTER_EVENTS: u64 = 50_000;

/// The processor of one reaction. Its steps are in `pipeline.rs`.
#[derive(Debug)]
pub(super) struct ReactionProcessor {
    pub(super) executor: ReactionExecutor,
    /// The types of the events that the reaction handles.
    pub(super) event_types: Vec<EventType>,
    pub(super) checkpoints: CheckpointStore,
    pub(super) calls: RunningCalls,
    pub(super) deadlines: DeadlineQueue,
    /// The last event that was received. It was handled, unless it waits for a call.
    pub(super) position: Option<EventId>,
    /// The time at which deadlines were found due, and the newest event at this time. Events up to it may cancel the
    /// deadlines until this time and are handled first. A later deadline may be cancelled by later events.
    pub(super) handle_first: Option<(Timestamp, Option<EventId>)>,
    saved_at: Instant,
    events_since_save: u64,
    /// True if a restart from the last checkpoint would repeat work.
    pub(super) is_dirty: bool,
    /// The starts of the schedules, by the index of the step.
    pub(super) schedule_starts: BTreeMap<usize, ScheduleStart>,
    /// True if a schedule was found to wait because the clock was ahead.
    pub(super) is_schedule_ahead: bool,
    /// The held subjects to retry at once: because the program has started, or because a call of theirs has succeeded.
    pub(super) retry_now: Vec<Subject>,
    /// True if a failure ends the work instead of holding a subject, as in a test of a reaction.
    pub(super) is_strict: bool,
}

impl ReactionProcessor {
    /// Starts a reaction at its last checkpoint. Without a readable one, it `begins_anew` or is an error. Its new schedules
    /// begin at the start of the process.
    pub(super) async fn load_from_checkpoint(
        executor: ReactionExecutor,
        begins_anew: bool,
        started_at: Timestamp,
    ) -> Result<Self, ReactionError> {
        let runtime = &executor.runtime;
        let name = executor.reaction.name;
        let (store, source) = (Arc::clone(&runtime.store), Arc::clone(&runtime.source));
        let checkpoints = CheckpointStore::new(name, store, source, runtime.instance)
            .map_err(ReactionError::Name)?;
        let mut processor = Self {
            event_types: executor.event_types(),
            executor,
            checkpoints,
            calls: RunningCalls::default(),
            deadlines: DeadlineQueue::default(),
            position: None,
            handle_first: None,
            saved_at: Instant::now(),
            events_since_save: 0,
            is_dirty: false,
            schedule_starts: BTreeMap::new(),
            is_schedule_ahead: false,
            retry_now: Vec::new(),
            is_strict: false,
        };
        processor.executor.load_skipped().await?;
        let progress = match processor.checkpoints.load_checkpoint().await {
            Err(ReactionError::Checkpoint(_)) if begins_anew => None,
            progress => progress?.cloned(),
        };
        // Before the first checkpoint, which covers no time that is still open.
        processor.open_schedules(started_at).await?;
        match progress {
            Some(progress) => processor.resume_from(&progress).await?,
            None if processor.executor.reaction.start == StartPosition::New => {
                processor.position = newest_id(&*processor.executor.runtime.store).await?;
                // Schedules alone pass over no event.
                if begins_anew || !processor.event_types.is_empty() {
                    processor.save_checkpoint().await?;
                }
            }
            None if begins_anew => processor.save_checkpoint().await?,
            None => {}
        }
        processor.publish_progress();
        Ok(processor)
    }

    /// Continues from this progress: sets the position, and reads the events with open deadlines again.
    pub(super) async fn resume_from(
        &mut self,
        progress: &ReactionProgress,
    ) -> Result<(), ReactionError> {
        self.position = progress.position;
        self.deadlines.clear_loaded();
        let (Some(from), Some(to)) = (progress.open_from, progress.position) else {
            return Ok(());
        };
        let mut next = Some(from);
        let mut event_types = self.event_types.clone();
        while let Some(from) = next.filter(|next| *next <= to) {
            let options = ReadOptions {
                lower_bound: Some(Bound::Inclusive(from)),
                upper_bound: Some(Bound::Inclusive(to)),
                event_types: event_types.clone(),
                ..ReadOptions::recursive()
            };
            let mut events = self.executor.runtime.store.read(Subject::root(), options);
            let mut damage = None;
            while let Some(event) = events.next().await {
                match event {
                    Ok(event) => {
                        next = event.id.next();
                        self.restore_deadlines(progress, &event);
                    }
                    Err(error @ StoreError::Corrupt { .. }) => damage = Some(error),
                    Err(error) => return Err(error.into()),
                }
            }
            let Some(error) = damage else { break };
            if event_types.is_empty() {
                // The reaction has passed the event, so it was skipped, or was damaged after that.
                let reaction = self.executor.reaction.name;
                tracing::error!(reaction, event = ?next, %error, "a reaction passes over a damaged event, whose deadlines are lost");
                next = next.and_then(EventId::next);
            }
            // Without a filter, the event behind the last one is the damaged one.
            event_types.clear();
        }
        Ok(())
    }

    /// Adds and cancels the deadlines that follow from an event before the position.
    pub(super) fn restore_deadlines(&mut self, progress: &ReactionProgress, event: &RecordedEvent) {
        if !self.event_types.contains(&event.event_type) {
            return;
        }
        // A poison event among them was skipped by an operator.
        if let Ok(plan) = self.executor.plan_steps(event) {
            let deadlines = plan.deadlines.into_iter();
            let open = deadlines.filter(|(at, _)| !progress.has_settled_deadline(*at, event.id));
            self.update_deadlines(event, &plan.cancelled_steps, open.collect());
        }
    }

    /// Cancels and adds the deadlines that follow from an event, unless they wait with their subject.
    pub(super) fn update_deadlines(
        &mut self,
        event: &RecordedEvent,
        cancelled_steps: &[usize],
        deadlines: Vec<(Timestamp, StepOfEventView)>,
    ) {
        if self.checkpoints.holds.blocks(&event.subject) {
            return;
        }
        for step in cancelled_steps {
            self.deadlines.cancel(&event.subject, *step);
        }
        for (at, StepOfEventView { step, view }) in deadlines {
            let event_id = event.id;
            let deadline = OpenDeadline {
                at,
                event: event_id,
                step,
                view,
            };
            self.deadlines.insert(deadline, &event.subject);
        }
    }

    /// Moves the position to an event.
    pub(super) fn advance_to(&mut self, event: EventId) {
        self.position = Some(event);
        self.events_since_save = self.events_since_save.saturating_add(1);
    }

    /// Returns the last event before those that wait for a call.
    fn handled_position(&self) -> Option<EventId> {
        let before = self.calls.last_before_waiting();
        before.unwrap_or(self.position)
    }

    /// Removes the deadlines that other processes have met, and returns the progress of this process.
    pub(super) fn compute_progress(&mut self) -> ReactionProgress {
        if let Some(known) = self.checkpoints.last_progress().cloned() {
            let nanosecond = SignedDuration::from_nanos(1);
            let last = known.settled.saturating_add(nanosecond);
            let last = last.unwrap_or(known.settled);
            let holds = &self.checkpoints.holds;
            let is_settled = |deadline: &OpenDeadline, subject: &Subject| {
                known.has_passed(deadline.event)
                    && known.has_settled_deadline(deadline.at, deadline.event)
                    && holds.find(subject).is_none()
            };
            self.deadlines.remove_until(last, is_settled);
            for (met, subject) in self.deadlines.take_scheduled(is_settled) {
                self.open_next_time(met, &subject);
            }
        }
        let now = self.executor.runtime.services.clock().now();
        // The clock of another process may be ahead. Deadlines that it has met are no longer in the queue.
        let known = self.checkpoints.last_progress();
        let until = known.map_or(now, |known| known.settled.max(now));
        let (settled, settled_before) = self.deadlines.settled_until(until);
        let position = self.handled_position();
        ReactionProgress {
            position,
            settled,
            // An event behind the position may have set the deadline.
            settled_before: settled_before.filter(|event| Some(*event) <= position),
            open_from: self.deadlines.first_open_event(),
        }
    }

    /// Saves a checkpoint if the last one is old enough.
    pub(super) async fn save_if_due(&mut self) -> Result<(), ReactionError> {
        let is_due = self.is_dirty && self.saved_at.elapsed() >= SAVE_INTERVAL;
        if is_due || self.events_since_save >= SAVE_AFTER_EVENTS {
            self.save_checkpoint().await?;
        }
        Ok(())
    }

    /// Saves a checkpoint, unless another process has advanced as far and none waits for this one.
    pub(super) async fn save_checkpoint(&mut self) -> Result<(), ReactionError> {
        loop {
            let progress = self.compute_progress();
            if self.checkpoints.save(&progress).await? {
                break;
            }
            let elsewhere = self.checkpoints.last_progress();
            let is_as_far = elsewhere.is_some_and(|other| other.position >= progress.position);
            if is_as_far && !self.checkpoints.needs_save() {
                break;
            }
        }
        self.saved_at = Instant::now();
        self.events_since_save = 0;
        self.is_dirty = false;
        Ok(())
    }

    /// Publishes the position, the deadlines and the held subjects for the health check and the metrics.
    pub(super) fn publish_progress(&mut self) {
        let progress = &self.executor.progress;
        progress.record_position(self.handled_position());
        let held = self.checkpoints.holds.to_keys();
        if !held.iter().eq(progress.held_keys().iter()) {
            progress.record_held_keys(held);
        }
        progress.record_deadlines(OpenDeadlines {
            count: self.deadlines.len(),
            next: self.deadlines.next_time(),
        });
        self.publish_schedules_ahead();
    }
}
