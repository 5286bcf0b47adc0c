//! The progress of an executor that operators see, and its pauses.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use tokio::time::{Instant, sleep};

use super::{
    ReactionError,
    shared_reaction::SharedReaction,
    task_executor::{LONGEST_PAUSE, TaskExecutor},
};
use es_subscribe::{
    HeldKeys, OpenDeadlines, SubscriberProgress, back_off,
    state::{StateDatabase, StateError},
};

/// The interval at which the clock is looked at. A fixed clock changes without notice.
const CLOCK_INTERVAL: Duration = Duration::from_millis(200);
/// The interval at which a schedule is checked that waits because the clock was ahead.
const SCHEDULE_INTERVAL: Duration = Duration::from_secs(1);

impl TaskExecutor {
    /// Publishes the held subjects and the deadlines for the health check and the metrics, not too often.
    pub(super) async fn publish_if_changed(&mut self) -> Result<(), ReactionError> {
        let is_recent = self
            .published_at
            .is_some_and(|published| published.elapsed() < CLOCK_INTERVAL);
        if self.is_changed && !is_recent {
            self.publish().await?;
        }
        Ok(())
    }

    /// Publishes the held subjects and the deadlines.
    async fn publish(&mut self) -> Result<(), ReactionError> {
        let (shared, progress) = (&self.shared, &self.shared.steps.progress);
        let unrecorded = shared.unrecorded_schedules().into_iter();
        let unrecorded: Vec<_> = unrecorded.map(|schedule| schedule.next).collect();
        publish_tasks(shared.state(), progress, &unrecorded).await?;
        self.held = progress.held_keys().len();
        shared.publish_schedules_ahead().await?;
        if let Some(refused) = &self.refused {
            progress.record_failure(refused.failure.clone());
        }
        self.is_changed = false;
        self.published_at = Some(Instant::now());
        Ok(())
    }

    pub(super) fn is_paused(&mut self) -> bool {
        let is_paused = self
            .paused_until
            .is_some_and(|until| Instant::now() < until);
        if !is_paused {
            self.paused_until = None;
        }
        is_paused || self.shared.sink_pause_end().is_some()
    }

    /// Records that the reaction works.
    pub(super) fn end_pauses(&mut self) {
        self.pauses = back_off(LONGEST_PAUSE);
        self.paused_until = None;
    }

    /// Begins no task for a while, because the event store or the state database does not work.
    pub(super) fn pause_after(&mut self, error: &ReactionError) {
        let reaction = self.shared.name();
        tracing::warn!(reaction, %error, "a reaction cannot execute its tasks and retries");
        self.shared
            .steps
            .progress
            .record_failure(error.to_failure());
        self.has_failed = true;
        self.pause();
    }

    pub(super) fn pause(&mut self) {
        let pause = self.pauses.next().unwrap_or(LONGEST_PAUSE);
        self.paused_until = Instant::now().checked_add(pause);
    }

    /// Waits for a task that ends, for a planned one, or for its time.
    pub(super) async fn wait_for_work(&mut self) {
        let is_paused = self.is_paused();
        let shared = Arc::clone(&self.shared);
        let until = self.wake_up_times();
        let from = until.from;
        let end = tokio::select! {
            biased;
            Some(end) = self.running.join_next() => Some(end),
            () = shared.wake.notified() => {
                self.is_changed = true;
                None
            }
            () = shared.steps.progress.wait_for_requested_attempt(), if is_paused => {
                self.paused_until = None;
                shared.end_sink_pause();
                None
            }
            () = wait_until(&shared, until) => {
                self.is_changed |= self.shared.is_schedule_ahead() || self.shared.now() < from;
                None
            }
        };
        if let Some(Ok(end)) = end
            && let Err(error) = self.settle(end)
        {
            self.pause_after(&error);
        }
    }

    fn wake_up_times(&self) -> WakeUpTimes {
        let now = Instant::now();
        let is_ahead = self.shared.is_schedule_ahead();
        let checking = is_ahead.then(|| now.checked_add(SCHEDULE_INTERVAL));
        let publishing = self.is_changed.then_some(now);
        let refused = self.refused.as_ref().map(|refused| refused.next);
        let asked = self.shared.sink_pause_end();
        let instants = [
            checking.flatten(),
            publishing,
            refused,
            self.paused_until,
            asked,
        ];
        WakeUpTimes {
            from: self.shared.now(),
            due: self.next,
            instant: instants.into_iter().flatten().min(),
        }
    }
}

/// Publishes the held subjects and the deadlines that the state database has, and the next times of schedules that have not
/// started.
pub(super) async fn publish_tasks(
    state: &StateDatabase,
    progress: &SubscriberProgress,
    unrecorded: &[Timestamp],
) -> Result<(), StateError> {
    let name = progress.name();
    let held: HeldKeys = state.held_subjects(name).await?.into_iter().collect();
    if !held.iter().eq(progress.held_keys().iter()) {
        progress.record_held_keys(held);
    }
    let open = state.open_deadlines(name).await?;
    progress.record_deadlines(OpenDeadlines {
        count: open.count.saturating_add(unrecorded.len()),
        next: unrecorded.iter().copied().chain(open.next).min(),
    });
    Ok(())
}

/// The next times at which an executor has something to do.
struct WakeUpTimes {
    /// The time by the clock of the application. If it goes back, a schedule may leave out times.
    from: Timestamp,
    /// The next time at which a task is due, by the clock of the application.
    due: Option<Timestamp>,
    /// The next end of a pause.
    instant: Option<Instant>,
}

/// Waits until one of the times has come.
async fn wait_until(shared: &SharedReaction, until: WakeUpTimes) {
    loop {
        sleep(CLOCK_INTERVAL).await;
        let is_due = until.due.is_some_and(|due| due <= shared.now());
        if is_due
            || until
                .instant
                .is_some_and(|instant| instant <= Instant::now())
        {
            return;
        }
    }
}
