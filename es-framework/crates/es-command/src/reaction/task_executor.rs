//! Executes the tasks of one reaction that are due: those of a subject in their order, and those of several subjects at
//! once.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use backon::ExponentialBackoff;
use jiff::Timestamp;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{ReactionError, shared_reaction::SharedReaction};
use es_event::{EventId, RecordedEvent, Subject};
use es_store::newest_id_or_bound;
use es_subscribe::{
    SubscriberFailure, back_off,
    state::{Task, TaskChange},
};

/// The most tasks of a reaction that are executed at once.
const MAX_RUNNING: usize = 16;
/// The most tasks at once that have failed before, and whose calls may hang again.
pub(super) const MAX_RETRIED: usize = MAX_RUNNING / 2;
/// The most tasks that are read at once. It is more than a reaction holds.
const MAX_READ: usize = 256;
/// The time in which the state database has to accept the last results. Without it, the tasks are executed again.
const HAND_OVER_TIMEOUT: Duration = Duration::from_secs(1);

/// The longest pause before the event store or the state database is asked again.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The end of a task.
pub(super) struct TaskEnd {
    pub(super) task: Task,
    /// The event of the task, unless it could not be read.
    pub(super) event: Option<RecordedEvent>,
    pub(super) result: Result<(), ReactionError>,
}

/// A task whose subject cannot be held.
pub(super) struct RefusedTask {
    pub(super) subject: Subject,
    /// The time of the next attempt.
    pub(super) next: Instant,
    /// The failure is published with the held subjects, which an operator then skips.
    pub(super) failure: SubscriberFailure,
}

/// The executor of the tasks of one reaction.
pub(super) struct TaskExecutor {
    pub(super) shared: Arc<SharedReaction>,
    /// The most tasks that are executed at once.
    pub(super) max_running: usize,
    /// True if a failure ends the work instead of holding a subject, as in a test of a reaction.
    pub(super) is_strict: bool,
    pub(super) running: JoinSet<TaskEnd>,
    /// The subjects whose tasks are executed or not saved yet, each with whether the task has failed before.
    pub(super) busy: BTreeMap<Subject, bool>,
    /// The changes of the tasks that have ended, and their subjects.
    pub(super) unsaved: Vec<TaskChange>,
    pub(super) ended: Vec<Subject>,
    /// The time at which deadlines were found due, and the newest event at this time. The events up to it may cancel the
    /// deadlines until this time and are planned first. A later deadline may be cancelled by later events.
    pub(super) found_due: Option<(Timestamp, Option<EventId>)>,
    /// The pause after a failure of the event store or of the state database.
    pub(super) paused_until: Option<Instant>,
    pub(super) pauses: ExponentialBackoff,
    /// True after a failure that is no failure of a task.
    pub(super) has_failed: bool,
    /// The task whose subject cannot be held, because too many are.
    pub(super) refused: Option<RefusedTask>,
    /// True if the receiver of the sink wants no more events, and this is not saved yet.
    pub(super) ends: bool,
    /// The number of held subjects.
    pub(super) held: usize,
    /// The next time at which a task may be due.
    pub(super) next: Option<Timestamp>,
    /// True if held subjects or deadlines have changed since they were published.
    pub(super) is_changed: bool,
    pub(super) published_at: Option<Instant>,
}

impl TaskExecutor {
    pub(super) fn new(shared: Arc<SharedReaction>) -> Self {
        let sink = shared.steps.reaction.sink;
        Self {
            shared,
            max_running: sink.map_or(MAX_RUNNING, |sink| sink.max_running),
            is_strict: false,
            running: JoinSet::new(),
            busy: BTreeMap::new(),
            unsaved: Vec::new(),
            ended: Vec::new(),
            found_due: None,
            paused_until: None,
            pauses: back_off(LONGEST_PAUSE),
            has_failed: false,
            refused: None,
            ends: false,
            held: 0,
            next: None,
            is_changed: true,
            published_at: None,
        }
    }

    /// Creates an executor for a test, which executes one task after the other, and ends at the first failure.
    pub(super) fn strict(shared: Arc<SharedReaction>) -> Self {
        Self {
            max_running: 1,
            is_strict: true,
            ..Self::new(shared)
        }
    }

    /// Executes tasks until the stop. Then the running ones have the time `drain` to end.
    pub(super) async fn run(&mut self, stop: &CancellationToken, drain: Duration) {
        while !stop.is_cancelled() {
            let advancing = stop.run_until_cancelled(self.advance());
            match advancing.await {
                None => break,
                Some(Ok(true)) => {}
                Some(Ok(false)) => {
                    stop.run_until_cancelled(self.wait_for_work()).await;
                }
                Some(Err(error)) => {
                    self.pause_after(&error);
                    // The state database does not take results, so it gives no tasks either.
                    if let (false, Some(until)) = (self.unsaved.is_empty(), self.paused_until) {
                        stop.run_until_cancelled(sleep_until(until)).await;
                    }
                }
            }
        }
        self.hand_over(drain).await;
    }

    /// Saves the results of the tasks that may still end, so that another process need not execute them again.
    async fn hand_over(&mut self, drain: Duration) {
        let draining = async {
            while let Some(end) = self.running.join_next().await {
                if let Ok(end) = end {
                    // The next process executes a task again whose subject cannot be held.
                    let _ = self.settle(end);
                }
            }
        };
        let _ = timeout(drain, draining).await;
        self.running.abort_all();
        let reaction = self.shared.name();
        let saving = async {
            self.save_ends().await?;
            self.shared.save_position().await
        };
        match timeout(HAND_OVER_TIMEOUT, saving).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(reaction, %error, "a reaction cannot save its last results, so the next start executes these tasks again");
            }
            Err(_) => {
                tracing::warn!(
                    reaction,
                    "the state database does not answer, so the next start executes the last tasks of a reaction again"
                );
            }
        }
    }

    /// Executes all due tasks one after the other, with those that follow from them, for a test.
    pub(super) async fn catch_up(&mut self) -> Result<(), ReactionError> {
        loop {
            let has_planned = self.shared.plan_stored().await?;
            let has_begun = self.advance().await?;
            if let Some(Ok(end)) = self.running.join_next().await {
                self.settle(end)?;
            } else if !has_planned && !has_begun && self.found_due.is_none() {
                return Ok(());
            }
        }
    }

    /// Saves the results of tasks that have ended and begins those that are due. Returns true if it has done something.
    pub(super) async fn advance(&mut self) -> Result<bool, ReactionError> {
        while let Some(Ok(end)) = self.running.try_join_next() {
            self.settle(end)?;
        }
        self.save_ends().await?;
        let now = self.shared.now();
        let position = {
            let planned = self.shared.planned.lock().await;
            if !planned.is_loaded {
                return Ok(false);
            }
            planned.event
        };
        if self.is_paused() {
            if self.shared.sink_pause_end().is_some() {
                self.publish_if_changed().await?;
            }
            return Ok(false);
        }
        let has_recorded = self.shared.record_due_starts(now).await?;
        let (state, name) = (self.shared.state(), self.shared.name());
        let longest_pause = self.shared.steps.reaction.longest_pause();
        let next = state.next_time(name, now, longest_pause).await?;
        let until = self.find_planned_time(now, next, position).await?;
        let state = self.shared.state();
        let due = state
            .due_tasks(name, (now, longest_pause), until, MAX_READ)
            .await?;
        self.forget_retried(&due);
        self.check_refused(&due, until.is_some());
        let has_begun = self.begin_tasks(due, until).await?;
        if until.is_some() {
            self.found_due = None;
        }
        if std::mem::take(&mut self.has_failed) && self.refused.is_none() {
            self.shared.steps.progress.record_success();
        }
        let unrecorded = self.shared.unrecorded_schedules();
        let starts = unrecorded.iter().map(|schedule| schedule.next);
        self.next = starts.chain(next).min();
        self.publish_if_changed().await?;
        Ok(has_recorded || has_begun)
    }

    /// Returns the time up to which deadlines may be met: all events that may cancel them are planned. `next` is the next time
    /// at which a task is due.
    async fn find_planned_time(
        &mut self,
        now: Timestamp,
        next: Option<Timestamp>,
        position: Option<EventId>,
    ) -> Result<Option<Timestamp>, ReactionError> {
        if self.found_due.is_none() {
            let is_due = next.is_some_and(|next| next <= now);
            self.shared
                .waits_for_events
                .store(is_due, Ordering::Release);
            if !is_due {
                return Ok(None);
            }
            let store = &*self.shared.steps.runtime.store;
            self.found_due = Some((now, newest_id_or_bound(store, position).await?));
        }
        let planned = self.found_due.filter(|(_, newest)| position >= *newest);
        // The clock may have gone back since then.
        Ok(planned.map(|(until, _)| until.min(now)))
    }

    /// Saves the results of the tasks that have ended.
    pub(super) async fn save_ends(&mut self) -> Result<(), ReactionError> {
        if !self.unsaved.is_empty() {
            let (state, name) = (self.shared.state(), self.shared.name());
            state.commit(name, None, &self.unsaved).await?;
            self.unsaved.clear();
        }
        if self.ends {
            self.refused = None;
            self.shared.is_full.store(false, Ordering::Release);
            self.shared.end_sink().await?;
            (self.ends, self.held) = (false, 0);
        }
        for subject in self.ended.drain(..) {
            self.busy.remove(&subject);
        }
        Ok(())
    }

    pub(super) fn is_busy(&self, subject: &Subject) -> bool {
        self.busy.contains_key(subject)
    }

    /// Ends the wait of an operator for subjects of which no task is due or executed any more.
    fn forget_retried(&self, due: &[Task]) {
        if due.len() < MAX_READ {
            let is_due = |subject: &Subject| due.iter().any(|task| task.subject == *subject);
            let mut retried = self.shared.lock_retried();
            retried.retain(|subject| self.busy.contains_key(subject) || is_due(subject));
        }
    }
}
