//! Reads what releases before the state database have left in the event store: the checkpoint of a reaction. Its tasks are
//! those that were open.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, TryStreamExt as _};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use super::{
    ReactionError, planner::at_time, schedule_start::ScheduleStart, step_executor::StepExecutor,
};
use es_event::{EventId, RecordedEvent, Subject, SubjectTemplatePart};
use es_store::{Bound, EventLog, Order, ReadOptions, StoreError, event_with_id};
use es_subscribe::{
    SubscriberCheckpoint,
    state::{StateError, Task, TaskChange, TaskFailure},
};

/// The type of the events that are checkpoints.
const CHECKPOINT: &str = "io.es-framework.ReactionCheckpointedEvent";
const NANOSECOND: SignedDuration = SignedDuration::from_nanos(1);

/// The payload of a checkpoint.
#[derive(Deserialize)]
struct OldCheckpoint {
    #[serde(flatten)]
    progress: OldProgress,
    /// The tasks beyond `progress` that were executed or skipped.
    #[serde(default)]
    done: Vec<DoneTask>,
    /// The subjects that wait. `progress` does not count for them.
    #[serde(default)]
    held: BTreeMap<Subject, OldHold>,
}

/// The position of a reaction in the events and in the deadlines.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OldProgress {
    /// The last event that was handled.
    position: Option<EventId>,
    /// All deadlines until this time that events up to `position` set were met or cancelled.
    settled: Timestamp,
    /// The deadlines one nanosecond after `settled` that events before this one set were met or cancelled, too.
    settled_before: Option<EventId>,
    /// The first event with an open deadline.
    open_from: Option<EventId>,
}

/// A task that was executed or skipped.
#[derive(Deserialize)]
struct DoneTask {
    event: EventId,
    step: String,
    view: u32,
    at: Option<Timestamp>,
}

/// A subject that waits.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OldHold {
    #[serde(flatten)]
    progress: OldProgress,
    #[serde(default)]
    done: Vec<DoneTask>,
    /// The event at which a step failed.
    event: EventId,
    reason: String,
    attempts: u32,
    next_attempt: Option<Timestamp>,
}

/// Reads the position and the open tasks from the newest checkpoint, if there is one.
pub(super) async fn read_old_tasks(
    steps: &StepExecutor,
) -> Result<Option<(Option<SubscriberCheckpoint>, Vec<Task>)>, ReactionError> {
    let name = steps.reaction.name;
    let subject = Subject::fill_template(&[
        SubjectTemplatePart::Text("/es-framework/reactions/"),
        SubjectTemplatePart::Field("name", &name),
    ]);
    let subject = subject.map_err(ReactionError::Name)?;
    match OldCheckpoint::read_newest(&*steps.runtime.store, &subject).await? {
        Some(checkpoint) => checkpoint.read_tasks(steps).await.map(Some),
        None => Ok(None),
    }
}

impl OldCheckpoint {
    /// Reads the subject from its end up to a checkpoint. Anybody with the API token can write other events there.
    async fn read_newest(
        store: &dyn EventLog,
        subject: &Subject,
    ) -> Result<Option<Self>, ReactionError> {
        let newest_first = ReadOptions {
            order: Order::Antichronological,
            ..ReadOptions::default()
        };
        let mut events = store.read(subject.clone(), newest_first);
        let mut is_lost = false;
        while let Some(event) = events.try_next().await? {
            if event.event_type.as_str() != CHECKPOINT {
                continue;
            }
            let checkpoint: Option<Self> = event.payload().ok();
            match checkpoint.filter(|checkpoint| checkpoint.is_before(event.id)) {
                Some(checkpoint) => return Ok(Some(checkpoint)),
                None => is_lost = true,
            }
        }
        if is_lost {
            return Err(ReactionError::Checkpoint(subject.clone()));
        }
        Ok(None)
    }

    /// Returns whether a checkpoint with this id can have recorded all of this.
    fn is_before(&self, checkpoint: EventId) -> bool {
        let held = self.held.values().map(|held| held.progress.position);
        let newest = self.progress.position.max(self.progress.open_from);
        let newest = newest.max(self.progress.settled_before);
        held.fold(newest, Ord::max) < Some(checkpoint)
    }

    /// Returns the progress on a subject, and the tasks beyond it that are done.
    fn progress_of(&self, subject: &Subject) -> (&OldProgress, &[DoneTask]) {
        match self.held.get(subject) {
            Some(held) => (&held.progress, &held.done),
            None => (&self.progress, &self.done),
        }
    }

    /// Plans the open tasks, and returns the position behind all that the checkpoint covers.
    async fn read_tasks(
        &self,
        steps: &StepExecutor,
    ) -> Result<(Option<SubscriberCheckpoint>, Vec<Task>), ReactionError> {
        let done = self.done.iter().map(|task| task.event).max();
        let Some(last) = self.progress.position.max(done) else {
            return Ok((None, Vec::new()));
        };
        let open = self
            .held
            .values()
            .filter_map(|held| held.progress.open_from);
        let open = open.chain(self.progress.open_from).min();
        let next = self.progress.position.and_then(EventId::next);
        // At least one event is read, which gives the position its hash.
        let first = open.into_iter().chain(next).min().unwrap_or(EventId::FIRST);
        let mut tasks = Vec::new();
        let (mut position, mut read) = (None, None);
        let mut next = Some(first.min(last));
        while let Some(from) = next.filter(|next| *next <= last) {
            let options = ReadOptions {
                lower_bound: Some(Bound::Inclusive(from)),
                upper_bound: Some(Bound::Inclusive(last)),
                ..ReadOptions::recursive()
            };
            let mut events = steps.runtime.store.read(Subject::root(), options);
            next = None;
            while let Some(event) = events.next().await {
                match event {
                    Ok(event) => {
                        self.plan_event(steps, &event, &mut tasks);
                        position = Some(SubscriberCheckpoint::from_event(&event));
                        read = Some(event.id);
                    }
                    Err(error @ StoreError::Corrupt { .. }) => {
                        read = read.and_then(EventId::next).max(Some(from));
                        let reaction = steps.reaction.name;
                        tracing::error!(reaction, event = ?read, %error, "a reaction passes over a damaged event, whose deadlines are lost");
                        next = read.and_then(EventId::next);
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        if read < Some(last) {
            return Err(StateError::OtherEvents(last).into());
        }
        self.plan_schedules(steps, last, &mut tasks).await?;
        self.hold_tasks(&mut tasks);
        Ok((position, tasks))
    }

    /// Adds and cancels the open tasks that follow from an event.
    fn plan_event(&self, steps: &StepExecutor, event: &RecordedEvent, tasks: &mut Vec<Task>) {
        let (progress, done) = self.progress_of(&event.subject);
        let has_passed = progress.position >= Some(event.id);
        let is_open = progress.open_from.is_some_and(|open| open <= event.id);
        if has_passed && !is_open || ScheduleStart::from_event(event).is_some() {
            return;
        }
        for change in steps.plan_event(event) {
            match change {
                TaskChange::Cancel { step, subject, .. } => {
                    tasks.retain(|task| {
                        let is_cancelled = task.key.due.is_some() && task.key.step == step;
                        !(is_cancelled && task.subject == subject)
                    });
                }
                TaskChange::Plan(task) => {
                    let at = task.key.due;
                    let is_settled = at.is_none_or(|at| progress.has_settled(at, event.id));
                    let is_done = done.iter().any(|done| done.is(&task));
                    if !(has_passed && is_settled || is_done) {
                        tasks.push(task);
                    }
                }
                TaskChange::Begin(_)
                | TaskChange::End
                | TaskChange::Finish { .. }
                | TaskChange::Fail { .. } => {}
            }
        }
    }

    /// Plans the next time of each schedule that has started up to a position. Nothing says from which event on they are open.
    async fn plan_schedules(
        &self,
        steps: &StepExecutor,
        position: EventId,
        tasks: &mut Vec<Task>,
    ) -> Result<(), ReactionError> {
        let store = &*steps.runtime.store;
        for step in steps.schedules.keys() {
            let name = (steps.reaction.name, steps.step_name(*step));
            let start = ScheduleStart::find(store, name, Timestamp::MIN).await?;
            let started = match start.event.filter(|event| *event <= position) {
                Some(event) => event_with_id(store, event).await?,
                None => None,
            };
            let Some(event) = started else {
                continue;
            };
            let (progress, done) = self.progress_of(&event.subject);
            for change in steps.plan_event(&event) {
                let TaskChange::Plan(first) = change else {
                    continue;
                };
                let mut next = progress.skip_settled_times(steps, first);
                while let Some(task) = &next
                    && done.iter().any(|done| done.is(task))
                {
                    next = steps.find_next_task(task);
                }
                tasks.extend(next);
            }
        }
        Ok(())
    }

    /// Gives the first open task of each held subject its failure.
    fn hold_tasks(&self, tasks: &mut [Task]) {
        for (subject, held) in &self.held {
            let of_event = tasks.iter_mut();
            let of_event =
                of_event.filter(|task| task.subject == *subject && task.key.event == held.event);
            if let Some(task) = of_event.min_by_key(|task| (task.key.due, task.order)) {
                task.attempts = held.attempts;
                task.failure = Some(TaskFailure {
                    reason: held.reason.clone(),
                    retry_at: held.next_attempt,
                });
            }
        }
    }
}

impl OldProgress {
    /// Returns whether the deadline of an event at this time was met or cancelled, if the event was handled.
    fn has_settled(&self, at: Timestamp, event: EventId) -> bool {
        let is_next = self.settled.checked_add(NANOSECOND).ok() == Some(at);
        at <= self.settled || is_next && Some(event) < self.settled_before
    }

    /// Returns the task of a schedule for the first time that was not met, given that for the first time of all.
    fn skip_settled_times(&self, steps: &StepExecutor, first: Task) -> Option<Task> {
        let (event, at) = (first.key.event, first.key.due?);
        if self.position < Some(event) || !self.has_settled(at, event) {
            return Some(first);
        }
        let after = steps.next_time(&first.key.step, self.settled.max(at))?;
        let is_met = self.has_settled(after, event);
        let next = if is_met {
            steps.next_time(&first.key.step, after)?
        } else {
            after
        };
        Some(at_time(&first, next))
    }
}

impl DoneTask {
    fn is(&self, task: &Task) -> bool {
        let key = &task.key;
        let is_step = self.step == key.step && self.view == key.view;
        is_step && self.event == key.event && self.at == key.due
    }
}
