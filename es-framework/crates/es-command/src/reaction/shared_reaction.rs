//! The state of one reaction that its planner, its executor and operators share.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};

use super::{
    ReactionDescriptor, ReactionError, ReactionRuntime, StartPosition,
    old_checkpoint::read_old_tasks, schedule_start::ScheduleStarts, step_executor::StepExecutor,
};
use es_event::{EventId, RecordedEvent, Subject};
use es_store::{Bound, Order, ReadOptions, StoreError, event_with_id};
use es_subscribe::{
    HeldKeys, SkipLog, SubscriberCheckpoint, SubscriberProgress,
    state::{StateDatabase, StateError, SubscriberPosition, TaskChange, check_position},
};
use futures_util::StreamExt as _;

/// The number of tasks that are due and not executed above which no event is planned.
const MAX_READY: u64 = 5_000;
/// The number of events without a task after which the position is saved.
const SAVE_AFTER_EVENTS: usize = 50_000;
/// The interval at which a planner that waits looks at the tasks again.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The state of one reaction.
#[derive(Debug)]
pub(super) struct SharedReaction {
    pub(super) steps: StepExecutor,
    /// The events that operators skip.
    pub(super) skip_log: SkipLog,
    /// The names of all reactions that have their tasks in the same database.
    others: Arc<[&'static str]>,
    /// The time at which the process started. New schedules begin with it.
    pub(super) started_at: Timestamp,
    /// The position. Who changes tasks because of an event, or because no later event exists, holds the lock.
    pub(super) planned: tokio::sync::Mutex<PlannedPosition>,
    pub(super) schedules: Mutex<ScheduleStarts>,
    /// Wakes the executor.
    pub(super) wake: Notify,
    /// True while deadlines that are due wait for the tasks of events.
    pub(super) waits_for_events: AtomicBool,
    /// The held subjects that an operator lets try again. An attempt that has ended removes its subject.
    retried: Mutex<BTreeSet<Subject>>,
    /// True if the reaction cannot hold another subject.
    pub(super) is_full: AtomicBool,
    /// True if the reaction may begin without its tasks.
    pub(super) begins_anew: AtomicBool,
    /// Wakes the planner when the sink has ended.
    pub(super) has_ended: Notify,
    /// The end of the pause for which the receiver of a sink has asked.
    asked_pause: Mutex<Option<Instant>>,
    /// True after the first load, which lets the held subjects try again.
    has_started: AtomicBool,
}

/// The position of the planner.
#[derive(Debug, Default)]
pub(super) struct PlannedPosition {
    /// False while no subscription runs.
    pub(super) is_loaded: bool,
    /// The last event whose tasks are planned.
    pub(super) event: Option<EventId>,
    /// The last of these events that is not saved as the position yet.
    unsaved: Option<SubscriberCheckpoint>,
    num_unsaved: usize,
}

impl SharedReaction {
    pub(super) fn new(
        reaction: ReactionDescriptor,
        runtime: Arc<ReactionRuntime>,
        progress: SubscriberProgress,
        others: Arc<[&'static str]>,
        started_at: Timestamp,
    ) -> Result<Self, ReactionError> {
        let (store, source) = (Arc::clone(&runtime.store), Arc::clone(&runtime.source));
        let skip_log = SkipLog::new(store, source, "reactions", reaction.name);
        Ok(Self {
            skip_log: skip_log.map_err(ReactionError::Name)?,
            steps: StepExecutor::new(reaction, runtime, progress)?,
            others,
            started_at,
            planned: tokio::sync::Mutex::default(),
            schedules: Mutex::default(),
            wake: Notify::new(),
            waits_for_events: AtomicBool::new(false),
            retried: Mutex::default(),
            is_full: AtomicBool::new(false),
            begins_anew: AtomicBool::new(false),
            has_ended: Notify::new(),
            asked_pause: Mutex::default(),
            has_started: AtomicBool::new(false),
        })
    }

    pub(super) fn name(&self) -> &'static str {
        self.steps.reaction.name
    }

    pub(super) fn state(&self) -> &StateDatabase {
        &self.steps.runtime.state
    }

    pub(super) fn now(&self) -> Timestamp {
        self.steps.runtime.services.clock().now()
    }

    pub(super) fn lock_retried(&self) -> MutexGuard<'_, BTreeSet<Subject>> {
        self.retried.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records in the event store that this database has the tasks, before the first one is executed.
    pub(super) async fn announce(&self) -> Result<(), ReactionError> {
        let runtime = &self.steps.runtime;
        let announced = runtime.state.announce(&*runtime.store, &runtime.source);
        Ok(announced.await?)
    }

    /// Loads the position, at a first start with what an earlier release has left in the event store.
    pub(super) async fn load(&self) -> Result<(), ReactionError> {
        let mut planned = self.planned.lock().await;
        *planned = PlannedPosition::default();
        if self.begins_anew.load(Ordering::Acquire) {
            self.begin_anew().await?;
            self.begins_anew.store(false, Ordering::Release);
        } else {
            self.state()
                .check_identity(&*self.steps.runtime.store)
                .await?;
        }
        let position = match self.state().position(self.name()).await? {
            SubscriberPosition::At(checkpoint) => {
                check_position(&*self.steps.runtime.store, checkpoint).await?;
                Some(checkpoint.event)
            }
            SubscriberPosition::BeforeFirst => None,
            SubscriberPosition::Unknown => self.begin_first_time().await?,
        };
        self.load_skips().await?;
        self.load_schedules(position).await?;
        if !self.has_started.load(Ordering::Acquire) {
            let retried = self.state().retry_failed(self.name(), None, self.now());
            retried.await?;
            self.has_started.store(true, Ordering::Release);
        }
        planned.event = position;
        planned.is_loaded = true;
        self.steps.progress.record_position(position);
        drop(planned);
        self.wake.notify_one();
        Ok(())
    }

    /// Loads the events that operators skip.
    pub(super) async fn load_skips(&self) -> Result<(), StoreError> {
        let skips = self.skip_log.load().await?;
        self.steps.skipped.replace_selections(skips);
        Ok(())
    }

    /// Begins with the checkpoint of an earlier release, or as the reaction declares.
    async fn begin_first_time(&self) -> Result<Option<EventId>, ReactionError> {
        if let Some((position, tasks)) = read_old_tasks(&self.steps).await? {
            self.announce().await?;
            self.state().begin(self.name(), position, &tasks).await?;
            return Ok(position.map(|position| position.event));
        }
        match self.steps.reaction.start {
            StartPosition::First => Ok(None),
            StartPosition::New | StartPosition::After(_) => {
                let start = self.find_start().await?;
                self.state().begin(self.name(), start, &[]).await?;
                Ok(start.map(|start| start.event))
            }
        }
    }

    /// Begins as at the first start, because the tasks or the events of them are lost.
    async fn begin_anew(&self) -> Result<(), ReactionError> {
        let runtime = &self.steps.runtime;
        let start = self.find_start().await?;
        let (store, others) = ((&*runtime.store, &runtime.source), &*self.others);
        let begun = runtime.state.begin_anew(store, self.name(), start, others);
        begun.await?;
        self.restart_schedules().await
    }

    /// Returns the event behind which the first start begins.
    async fn find_start(&self) -> Result<Option<SubscriberCheckpoint>, ReactionError> {
        match self.steps.reaction.start {
            StartPosition::First => Ok(None),
            StartPosition::New => self.find_newest().await,
            StartPosition::After(id) => {
                let event = event_with_id(&*self.steps.runtime.store, id).await?;
                let event = event.ok_or(ReactionError::NoStart(id))?;
                Ok(Some(SubscriberCheckpoint::from_event(&event)))
            }
        }
    }

    async fn find_newest(&self) -> Result<Option<SubscriberCheckpoint>, ReactionError> {
        let newest_first = ReadOptions {
            order: Order::Antichronological,
            ..ReadOptions::recursive()
        };
        let store = &self.steps.runtime.store;
        let newest = store.read(Subject::root(), newest_first).next().await;
        Ok(newest
            .transpose()?
            .as_ref()
            .map(SubscriberCheckpoint::from_event))
    }

    /// Waits until planned tasks are executed, if there are many. At the limit of held subjects nothing is executed, and the
    /// deadlines of held subjects can only be tried again after later events are planned.
    pub(super) async fn wait_for_room(&self) -> Result<(), ReactionError> {
        let is_full = || self.is_full.load(Ordering::Acquire);
        // A sink has no deadlines.
        while (self.steps.reaction.sink.is_some() || !is_full())
            && self.state().count_ready(self.name()).await? >= MAX_READY
        {
            sleep(POLL_INTERVAL).await;
        }
        Ok(())
    }

    /// Plans the tasks of consecutive events. They and the position are saved in one transaction.
    pub(super) async fn plan_batch(&self, events: &[RecordedEvent]) -> Result<(), ReactionError> {
        let Some(last) = events.last() else {
            return Ok(());
        };
        let changes: Vec<_> = events
            .iter()
            .flat_map(|event| self.steps.plan_event(event))
            .collect();
        let mut planned = self.planned.lock().await;
        if !planned.is_loaded {
            return Err(StateError::Ended(self.name().to_owned()).into());
        }
        planned.unsaved = Some(SubscriberCheckpoint::from_event(last));
        planned.num_unsaved = planned.num_unsaved.saturating_add(events.len());
        if changes
            .iter()
            .any(|change| matches!(change, TaskChange::Plan(_)))
        {
            self.announce().await?;
        }
        events.iter().for_each(|event| self.remember_start(event));
        if !changes.is_empty() || planned.num_unsaved >= SAVE_AFTER_EVENTS {
            let saved = self.state().commit(self.name(), planned.unsaved, &changes);
            saved.await?;
            planned.unsaved = None;
            planned.num_unsaved = 0;
        }
        planned.event = Some(last.id);
        // A position that advances would say that the reaction works.
        if !self.is_full.load(Ordering::Acquire) {
            self.steps.progress.record_position(planned.event);
        }
        drop(planned);
        if !changes.is_empty() || self.waits_for_events.load(Ordering::Acquire) {
            self.wake.notify_one();
        }
        Ok(())
    }

    /// Passes over an event that cannot be read and that an operator skips.
    pub(super) async fn pass_event(&self, event: EventId) {
        let mut planned = self.planned.lock().await;
        planned.event = planned.event.max(Some(event));
        self.steps.progress.record_position(planned.event);
        drop(planned);
        self.wake.notify_one();
    }

    /// Plans the tasks of all stored events that are not planned yet. Returns true if there are some.
    pub(super) async fn plan_stored(&self) -> Result<bool, ReactionError> {
        let position = self.planned.lock().await.event;
        let options = ReadOptions {
            lower_bound: position.map(Bound::Exclusive),
            ..ReadOptions::recursive()
        };
        let mut events = self.steps.runtime.store.read(Subject::root(), options);
        let mut batch = Vec::new();
        while let Some(event) = events.next().await {
            batch.push(event?);
        }
        self.plan_batch(&batch).await?;
        Ok(!batch.is_empty())
    }

    /// Records that the receiver of the sink wants no more events. Nothing is planned any more, and all tasks are removed.
    pub(super) async fn end_sink(&self) -> Result<(), ReactionError> {
        let mut planned = self.planned.lock().await;
        let ended = self.state().commit(self.name(), None, &[TaskChange::End]);
        ended.await?;
        *planned = PlannedPosition::default();
        drop(planned);
        let progress = &self.steps.progress;
        progress.record_held_keys(HeldKeys::default());
        let error = ReactionError::from(StateError::Ended(self.name().to_owned()));
        progress.record_failure(error.to_failure());
        self.has_ended.notify_one();
        Ok(())
    }

    /// Begins no task before the time for which the receiver of a sink has asked.
    pub(super) fn pause_sink(&self, pause: Duration) {
        *self.lock_asked_pause() = Instant::now().checked_add(pause);
    }

    /// Ends the pause for which the receiver of a sink has asked.
    pub(super) fn end_sink_pause(&self) {
        *self.lock_asked_pause() = None;
    }

    /// Returns the end of the pause for which the receiver of a sink has asked.
    pub(super) fn sink_pause_end(&self) -> Option<Instant> {
        self.lock_asked_pause().filter(|end| Instant::now() < *end)
    }

    fn lock_asked_pause(&self) -> MutexGuard<'_, Option<Instant>> {
        let pause = self.asked_pause.lock();
        pause.unwrap_or_else(PoisonError::into_inner)
    }

    /// Saves the position behind events without a task.
    pub(super) async fn save_position(&self) -> Result<(), ReactionError> {
        let mut planned = self.planned.lock().await;
        if let Some(checkpoint) = planned.unsaved.filter(|_| planned.is_loaded) {
            let saved = self.state().commit(self.name(), Some(checkpoint), &[]);
            saved.await?;
            planned.unsaved = None;
        }
        Ok(())
    }
}
