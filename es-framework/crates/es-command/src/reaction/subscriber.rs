//! A reaction as a subscriber of the event store, which plans tasks, and the commands of operators to it.

use std::{
    convert::Infallible,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use async_trait::async_trait;
use es_event::{EventSelection, PoisonEvent, RecordedEvent, Subject};
use es_subscribe::{
    CommandedSubscriber, Interruption, Subscriber, SubscriberProgress, TroubleCause,
    operator::{ComponentKind, OperatorError, ReplayOutcome},
};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::{ReactionError, replay::ReplayRange, shared_reaction::SharedReaction};

/// The time after which an operator whose attempts go on gets the counts so far.
const ANSWER_AFTER: Duration = Duration::from_secs(5);
/// The interval at which the attempts that an operator has asked for are looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The subscriber of a reaction.
pub(super) struct ReactionSubscriber {
    pub(super) shared: Arc<SharedReaction>,
    pub(super) stop: CancellationToken,
}

#[async_trait]
impl Subscriber for ReactionSubscriber {
    type Batch = Vec<RecordedEvent>;
    type End = Infallible;

    /// The highest number of events whose tasks are saved in one transaction.
    const BATCH: usize = 500;

    fn running(&self) -> Vec<SubscriberProgress> {
        vec![self.shared.steps.progress.clone()]
    }

    async fn begin(&self) -> Result<(), Interruption<Infallible>> {
        self.until_stopped(self.shared.load()).await
    }

    fn prepare(&self, events: Vec<RecordedEvent>) -> Vec<RecordedEvent> {
        events
    }

    async fn handle(&self, events: Vec<RecordedEvent>) -> Result<(), Interruption<Infallible>> {
        if self.shared.steps.concerns_some(&events) {
            self.until_stopped(self.shared.wait_for_room()).await?;
        }
        let planned = self.shared.plan_batch(&events).await;
        planned.map_err(ReactionError::into_interruption)
    }

    async fn pass_unreadable(&self, poison: &PoisonEvent) -> Result<(), Interruption<Infallible>> {
        if !self.shared.steps.skipped.covers(poison) {
            return Err(Interruption::Parked(poison.clone()));
        }
        self.shared.pass_event(poison.id).await;
        Ok(())
    }

    async fn is_settled(&self, poison: &PoisonEvent) -> bool {
        self.shared.steps.skipped.covers(poison)
    }
}

#[async_trait]
impl CommandedSubscriber for ReactionSubscriber {
    fn progress(&self) -> &SubscriberProgress {
        &self.shared.steps.progress
    }

    /// Lets a reaction that has lost its tasks, or their events, begin without them.
    async fn rebuild(&self) -> Result<(), OperatorError> {
        let progress = self.progress();
        let state = progress.state();
        if state.trouble().map(|trouble| trouble.cause) != Some(TroubleCause::Checkpoint) {
            return Err(OperatorError::CannotRebuild(progress.name()));
        }
        self.shared.begins_anew.store(true, Ordering::Release);
        progress.request_attempt();
        Ok(())
    }

    /// Skips the steps that fail at the selected events.
    async fn skip(&self, selection: &EventSelection) -> Result<(), OperatorError> {
        let log = &self.shared.skip_log;
        if let Some(event) = log.find_unrecorded(selection).await {
            return Err(OperatorError::NoSuchEvent(event));
        }
        log.skip(selection.clone()).await.map_err(failed)?;
        self.shared.steps.skipped.add_selection(selection.clone());
        Ok(())
    }

    async fn end_skips(&self, selection: &EventSelection) -> Result<bool, OperatorError> {
        let log = &self.shared.skip_log;
        let was_skipped = log.end_skips(selection).await.map_err(failed)?;
        self.shared.load_skips().await.map_err(failed)?;
        Ok(was_skipped)
    }

    async fn replay(
        &self,
        selection: Option<&EventSelection>,
    ) -> Result<ReplayOutcome, OperatorError> {
        let progress = self.progress();
        if !progress.is_sink() {
            return Err(OperatorError::CannotReplay(
                progress.kind(),
                progress.name(),
            ));
        }
        let range = ReplayRange::from_selection(selection)?;
        let planning = self.shared.plan_replay(range);
        let planned = self.stop.run_until_cancelled(planning).await;
        let planned = planned.ok_or(OperatorError::Busy(ComponentKind::Reaction))?;
        planned.map_err(failed)?.ok_or(OperatorError::WrongReplay(
            "waits until the sink works: it has ended or does not follow the event store",
        ))
    }

    async fn retry_held_keys(
        &self,
        selection: Option<&EventSelection>,
    ) -> Result<(usize, usize), OperatorError> {
        let retrying = self.retry_selected(selection);
        let retried = self.stop.run_until_cancelled(retrying).await;
        let retried = retried.ok_or(OperatorError::Busy(ComponentKind::Reaction))?;
        retried.map_err(failed)
    }
}

impl ReactionSubscriber {
    async fn until_stopped(
        &self,
        work: impl Future<Output = Result<(), ReactionError>>,
    ) -> Result<(), Interruption<Infallible>> {
        let worked = self.stop.run_until_cancelled(work).await;
        let worked = worked.ok_or(Interruption::Stopped)?;
        worked.map_err(ReactionError::into_interruption)
    }

    /// Lets the tasks of held subjects be tried again, and waits until these attempts have ended or the operator gets the
    /// counts so far.
    async fn retry_selected(
        &self,
        selection: Option<&EventSelection>,
    ) -> Result<(usize, usize), ReactionError> {
        let begin = Instant::now();
        let (shared, name) = (&self.shared, self.shared.name());
        if selection.is_none() {
            shared.restart_schedules_ahead().await?;
        }
        let failed = shared.state().failed_tasks(name).await?;
        let mut selected: Vec<Subject> = Vec::new();
        for task in failed {
            let key = task.to_held_key();
            if key.is_some_and(|key| key.is_selected(selection)) {
                selected.push(task.subject);
            }
        }
        shared.end_sink_pause();
        let retried = shared
            .state()
            .retry_failed(name, Some(&selected), shared.now());
        retried.await?;
        shared.lock_retried().extend(selected.iter().cloned());
        shared.wake.notify_one();
        let goes_on = || {
            let retried = shared.lock_retried();
            selected.iter().any(|subject| retried.contains(subject))
        };
        while goes_on() && begin.elapsed() < ANSWER_AFTER {
            sleep(POLL_INTERVAL).await;
        }
        let held = shared.state().failed_tasks(name).await?;
        let is_held = |subject: &&Subject| held.iter().any(|task| task.subject == **subject);
        let released = selected.iter().filter(|subject| !is_held(subject)).count();
        Ok((selected.len(), released))
    }
}

fn failed(error: impl ToString) -> OperatorError {
    OperatorError::Failed(ComponentKind::Reaction, error.to_string())
}
