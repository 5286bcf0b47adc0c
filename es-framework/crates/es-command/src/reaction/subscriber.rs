//! A reaction as a subscriber of the event store, and the commands of operators to it.

use std::{
    convert::Infallible,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use es_event::{EventSelection, PoisonEvent, RecordedEvent};
use es_subscribe::{
    CommandedSubscriber, Interruption, Subscriber, SubscriberProgress, TroubleCause,
    operator::{ComponentKind, OperatorError},
};
use jiff::Timestamp;
use tokio::time::{Instant, sleep, timeout};

use super::{
    executor::ReactionExecutor, graceful_stop::GracefulStop, processor::ReactionProcessor,
    stop_reason::StopReason,
};

/// The interval of deadline checks while no event arrives. A fixed clock changes without notice.
const CLOCK_INTERVAL: Duration = Duration::from_millis(200);
/// The time after which an operator whose attempts go on gets the counts so far.
const ANSWER_AFTER: Duration = Duration::from_secs(5);

/// A reaction that follows the event store.
pub(super) struct ReactionSubscriber {
    pub(super) executor: ReactionExecutor,
    pub(super) stop: GracefulStop,
    /// The time at which the process started. A later subscription begins new schedules no later.
    started_at: Timestamp,
    /// The processor since the begin of the last subscription.
    processor: tokio::sync::Mutex<Option<ReactionProcessor>>,
    /// True if the reaction may begin without its checkpoints.
    begins_anew: AtomicBool,
}

#[async_trait]
impl Subscriber for ReactionSubscriber {
    type Batch = Vec<RecordedEvent>;
    type End = Infallible;

    /// The highest number of events that are handled before deadlines are checked again.
    const BATCH: usize = 500;

    fn running(&self) -> Vec<SubscriberProgress> {
        vec![self.executor.progress.clone()]
    }

    async fn begin(&self) -> Result<(), Interruption<Infallible>> {
        let begins_anew = self.begins_anew.load(Ordering::Acquire);
        let mut slot = self.processor.lock().await;
        let loading = async {
            if let Some(before) = slot.as_mut() {
                before.end_calls().await?;
            }
            let (executor, started_at) = (self.executor.clone(), self.started_at);
            ReactionProcessor::load_from_checkpoint(executor, begins_anew, started_at).await
        };
        let loaded = self.stop.request.run_until_cancelled(loading).await;
        let loaded = loaded.ok_or(Interruption::Stopped)?;
        let mut loaded = loaded.map_err(|error| Interruption::Failed(error.to_failure()))?;
        loaded.retry_now = match slot.take() {
            Some(before) => before.retry_now,
            // Each start retries the held subjects.
            None => loaded
                .checkpoints
                .holds
                .subjects()
                .keys()
                .cloned()
                .collect(),
        };
        *slot = Some(loaded);
        self.begins_anew.store(false, Ordering::Release);
        Ok(())
    }

    fn prepare(&self, events: Vec<RecordedEvent>) -> Vec<RecordedEvent> {
        events
    }

    async fn handle(&self, events: Vec<RecordedEvent>) -> Result<(), Interruption<Infallible>> {
        let mut slot = self.processor.lock().await;
        let Some(processor) = slot.as_mut() else {
            return Ok(());
        };
        let handling = processor.handle_batch(events);
        let handled = self.stop.request.run_until_cancelled(handling).await;
        let handled = handled.ok_or(Interruption::Stopped)?;
        processor.publish_progress();
        handled.map_err(StopReason::into_interruption)
    }

    async fn pass_unreadable(&self, poison: &PoisonEvent) -> Result<(), Interruption<Infallible>> {
        let mut slot = self.processor.lock().await;
        let is_skipped = self.executor.skipped.covers(poison);
        let Some(processor) = slot.as_mut().filter(|_| is_skipped) else {
            return Err(Interruption::Parked(poison.clone()));
        };
        let passing = async {
            // The checkpoint passes the event only behind those before it.
            processor.finish_calls().await?;
            processor.check_rewind()?;
            processor.advance_to(poison.id);
            processor.save_checkpoint().await.map_err(StopReason::from)
        };
        let passed = self.stop.request.run_until_cancelled(passing).await;
        let passed = passed.ok_or(Interruption::Stopped)?;
        passed.map_err(StopReason::into_interruption)
    }

    async fn wait_for_work(&self) {
        let waiting = async {
            let has_ended = match self.processor.lock().await.as_mut() {
                Some(processor) if processor.has_work() => true,
                Some(processor) => processor.calls.wait_for_end().await,
                None => false,
            };
            if !has_ended {
                std::future::pending::<()>().await;
            }
        };
        let _ = timeout(CLOCK_INTERVAL, waiting).await;
    }

    async fn is_settled(&self, poison: &PoisonEvent) -> bool {
        if let Some(processor) = self.processor.lock().await.as_mut() {
            let _ = processor.make_room().await;
            let _ = processor.checkpoints.load_checkpoint().await;
            if processor.checkpoints.position() >= Some(poison.id) {
                return true;
            }
        }
        let loaded = self.executor.load_skipped().await;
        loaded.is_ok() && self.executor.skipped.covers(poison)
    }
}

#[async_trait]
impl CommandedSubscriber for ReactionSubscriber {
    fn progress(&self) -> &SubscriberProgress {
        &self.executor.progress
    }

    /// Lets a reaction that has lost its checkpoints begin without them.
    async fn rebuild(&self) -> Result<(), OperatorError> {
        let progress = &self.executor.progress;
        let state = progress.state();
        if state.trouble().map(|trouble| trouble.cause) != Some(TroubleCause::Checkpoint) {
            return Err(OperatorError::CannotRebuild(progress.name()));
        }
        self.begins_anew.store(true, Ordering::Release);
        progress.request_attempt();
        Ok(())
    }

    /// Skips the steps that fail at the selected events, in every instance.
    async fn skip(&self, selection: &EventSelection) -> Result<(), OperatorError> {
        let log = &self.executor.skip_log;
        if let Some(event) = log.find_unrecorded(selection).await {
            return Err(OperatorError::NoSuchEvent(event));
        }
        log.skip(selection.clone()).await.map_err(failed)?;
        self.executor.skipped.add_selection(selection.clone());
        Ok(())
    }

    async fn end_skips(&self, selection: &EventSelection) -> Result<bool, OperatorError> {
        let log = &self.executor.skip_log;
        let was_skipped = log.end_skips(selection).await.map_err(failed)?;
        if was_skipped {
            self.executor.load_skipped().await.map_err(failed)?;
        }
        Ok(was_skipped)
    }

    async fn retry_held_keys(
        &self,
        selection: Option<&EventSelection>,
    ) -> Result<(usize, usize), OperatorError> {
        let retrying = self.retry_selected(selection);
        let retried = self.stop.request.run_until_cancelled(retrying).await;
        let retried = retried.ok_or(OperatorError::Busy(ComponentKind::Reaction))?;
        retried.map_err(|reason| failed(reason.into_error()))
    }
}

impl ReactionSubscriber {
    pub(super) fn new(
        executor: ReactionExecutor,
        stop: GracefulStop,
        started_at: Timestamp,
    ) -> Self {
        Self {
            executor,
            stop,
            started_at,
            processor: tokio::sync::Mutex::default(),
            begins_anew: AtomicBool::new(false),
        }
    }

    /// Retries held subjects until their calls have ended or the operator gets the counts so far. Between two attempts, the
    /// reaction handles events.
    async fn retry_selected(
        &self,
        selection: Option<&EventSelection>,
    ) -> Result<(usize, usize), StopReason> {
        let begin = Instant::now();
        let mut selected = None;
        loop {
            let mut slot = self.processor.lock().await;
            let Some(processor) = slot.as_mut() else {
                return Ok((0, 0));
            };
            let selected = match &selected {
                Some(selected) => selected,
                None => selected.insert(processor.request_retries(selection).await?),
            };
            let goes_on = processor.advance_retries(selected).await?;
            if !goes_on || begin.elapsed() >= ANSWER_AFTER {
                let holds = &processor.checkpoints.holds;
                let released = selected.iter().filter(|one| holds.find(one).is_none());
                return Ok((selected.len(), released.count()));
            }
            let waits = !processor.has_work();
            drop(slot);
            if waits {
                sleep(CLOCK_INTERVAL).await;
            }
        }
    }

    /// Lets other processes continue at once, after the stop.
    pub(super) async fn hand_over(self) {
        if let Some(processor) = self.processor.into_inner() {
            processor.hand_over(self.stop.drain).await;
        }
    }
}

fn failed(error: impl ToString) -> OperatorError {
    OperatorError::Failed(ComponentKind::Reaction, error.to_string())
}
