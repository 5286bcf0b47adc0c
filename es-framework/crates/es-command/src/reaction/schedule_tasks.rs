//! The tasks of schedules: one for the next time of each schedule, which is followed by that for the time after it.

use std::{collections::BTreeMap, sync::PoisonError};

use jiff::Timestamp;

use super::{
    ReactionError,
    planner::{at_time, build_task},
    schedule_start::{ScheduleStart, ScheduleStarts, schedule_subject},
    shared_reaction::SharedReaction,
    step_executor::StepExecutor,
};
use es_event::{EventId, RecordedEvent};
use es_subscribe::{
    SubscriberFailure, TroubleCause,
    state::{Task, TaskChange},
};

/// A schedule whose start is not recorded, and its first time. It has no task before.
#[derive(Debug, Clone)]
pub(super) struct UnrecordedSchedule {
    pub(super) start: ScheduleStart,
    pub(super) next: Timestamp,
}

impl StepExecutor {
    /// Returns the index of the step that has a schedule and this name.
    fn find_scheduled_step(&self, name: &str) -> Option<usize> {
        let mut steps = self.schedules.keys().copied();
        steps.find(|step| self.step_name(*step) == name)
    }

    /// Returns the changes of an event with which a schedule starts, or `None` for another event.
    pub(super) fn plan_schedule(&self, event: &RecordedEvent) -> Option<Vec<TaskChange>> {
        let start = ScheduleStart::from_event(event)?;
        let (step, schedule) = self.schedules.iter().find(|(step, _)| {
            let name = (self.reaction.name, self.step_name(**step));
            schedule_subject(name).is_ok_and(|subject| subject == event.subject)
        })?;
        let name = self.step_name(*step);
        let mut changes = vec![TaskChange::Cancel {
            step: name.into(),
            subject: event.subject.clone(),
            before: event.id,
        }];
        match schedule.next_after(start.at) {
            Some(next) => {
                changes.push(TaskChange::Plan(build_task(event, name, 0, Some(next), 0)));
            }
            None => self.report_last_time(name),
        }
        Some(changes)
    }

    /// Returns the first time of a schedule after another one.
    pub(super) fn next_time(&self, step: &str, time: Timestamp) -> Option<Timestamp> {
        let step = self.find_scheduled_step(step)?;
        self.schedules.get(&step)?.next_after(time)
    }

    fn report_last_time(&self, schedule: &str) {
        let reaction = self.reaction.name;
        tracing::warn!(reaction, schedule, "a schedule has no further time");
    }

    /// Returns the changes that replace the task of a schedule by a later one, if its rule leaves out missed times.
    pub(super) fn skip_missed_times(
        &self,
        task: &Task,
        until: Timestamp,
    ) -> Option<[TaskChange; 2]> {
        let step = self.find_scheduled_step(&task.key.step)?;
        let schedule = self.schedules.get(&step)?;
        let first = task.key.due?;
        let next = schedule.skip_missed(first, until);
        if next == first {
            return None;
        }
        let (reaction, missed, subject) = (self.reaction.name, schedule.missed(), &task.subject);
        tracing::warn!(reaction, %subject, %first, %next, ?missed, "a schedule leaves out missed times");
        Some(replace_time(task, next))
    }

    /// Returns the task of a schedule after that of a time that was met.
    pub(super) fn find_next_task(&self, met: &Task) -> Option<Task> {
        self.find_scheduled_step(&met.key.step)?;
        let next = self.next_time(&met.key.step, met.key.due?);
        if next.is_none() {
            self.report_last_time(&met.key.step);
        }
        Some(at_time(met, next?))
    }
}

fn replace_time(task: &Task, time: Timestamp) -> [TaskChange; 2] {
    [finish(task), TaskChange::Plan(at_time(task, time))]
}

/// Returns the change that ends a task.
pub(super) fn finish(task: &Task) -> TaskChange {
    TaskChange::Finish {
        key: task.key.clone(),
        subject: task.subject.clone(),
    }
}

impl SharedReaction {
    fn lock_schedules(&self) -> std::sync::MutexGuard<'_, ScheduleStarts> {
        self.schedules
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds the starts of the schedules. One that has lost its task starts anew.
    pub(super) async fn load_schedules(
        &self,
        position: Option<EventId>,
    ) -> Result<(), ReactionError> {
        let runtime = &self.steps.runtime;
        let mut starts = BTreeMap::new();
        for (step, schedule) in self.steps.schedules.iter() {
            let step_name = self.steps.step_name(*step);
            let name = (self.name(), step_name);
            let start = ScheduleStart::find(&*runtime.store, name, self.started_at).await?;
            let is_planned = start.event.is_some_and(|event| Some(event) <= position);
            let now = runtime.services.clock().now();
            if is_planned
                && schedule.next_after(now).is_some()
                && self.find_scheduled_task(step_name).await?.is_none()
            {
                start
                    .record_anew(&*runtime.store, &runtime.source, now)
                    .await?;
            }
            starts.insert(*step, start);
        }
        self.lock_schedules().starts = starts;
        Ok(())
    }

    async fn find_scheduled_task(&self, step: &str) -> Result<Option<Task>, ReactionError> {
        let found = self.state().first_deadline(self.name(), step);
        Ok(found.await?)
    }

    /// Remembers the start of a schedule before its task is planned, so that no earlier start goes on.
    pub(super) fn remember_start(&self, event: &RecordedEvent) {
        if let Some(recorded) = ScheduleStart::from_event(event) {
            let mut schedules = self.lock_schedules();
            let mut starts = schedules.starts.values_mut();
            if let Some(known) = starts.find(|known| known.subject == recorded.subject) {
                *known = recorded;
            }
        }
    }

    /// Returns the changes after a task that was executed or skipped. A schedule goes on with its next time.
    pub(super) fn finish_task(&self, task: &Task) -> Vec<TaskChange> {
        let next = self.steps.find_next_task(task);
        let schedules = self.lock_schedules();
        let mut starts = schedules.starts.values();
        let is_current = starts.any(|start| start.event == Some(task.key.event));
        let next = next.filter(|_| is_current).map(TaskChange::Plan);
        [finish(task)].into_iter().chain(next).collect()
    }

    /// Returns the schedules whose starts are not recorded.
    pub(super) fn unrecorded_schedules(&self) -> Vec<UnrecordedSchedule> {
        let schedules = self.lock_schedules();
        let unrecorded = schedules.starts.iter();
        let unrecorded = unrecorded.filter(|(_, start)| start.event.is_none());
        let unrecorded = unrecorded.filter_map(|(step, start)| {
            let next = self.steps.schedules.get(step)?.next_after(start.at)?;
            let start = start.clone();
            Some(UnrecordedSchedule { start, next })
        });
        unrecorded.collect()
    }

    /// Records the starts of the schedules whose first time is due, so that their tasks have an event. Returns true if there
    /// is one.
    pub(super) async fn record_due_starts(&self, now: Timestamp) -> Result<bool, ReactionError> {
        let runtime = &self.steps.runtime;
        let unrecorded = self.unrecorded_schedules().into_iter();
        let due: Vec<_> = unrecorded.filter(|one| one.next <= now).collect();
        for UnrecordedSchedule { start, .. } in &due {
            let recording = start.clone().record(&*runtime.store, &runtime.source);
            let recorded = recording.await?;
            let mut schedules = self.lock_schedules();
            let mut starts = schedules.starts.values_mut();
            if let Some(known) = starts.find(|known| known.subject == recorded.subject) {
                *known = recorded;
            }
        }
        Ok(!due.is_empty())
    }

    /// Returns the schedules that leave out times that are still to come, with the times at which they go on. A clock that
    /// was ahead has met the others.
    async fn find_schedules_ahead(
        &self,
    ) -> Result<Vec<(&'static str, ScheduleStart, Timestamp)>, ReactionError> {
        let now = self.now();
        let starts = self.lock_schedules().starts.clone();
        let unrecorded = self.unrecorded_schedules();
        let mut ahead = Vec::new();
        for (step, start) in starts {
            let name = self.steps.step_name(step);
            let next = match start.event {
                None => {
                    let mut unrecorded = unrecorded.iter();
                    let own = unrecorded.find(|one| one.start.subject == start.subject);
                    own.map(|one| one.next)
                }
                Some(_) => {
                    let task = self.find_scheduled_task(name).await?;
                    task.and_then(|task| task.key.due)
                }
            };
            let schedule = self.steps.schedules.get(&step);
            let is_ahead = |next: &Timestamp| {
                schedule.is_some_and(|schedule| schedule.has_time_between(now, *next))
            };
            if let Some(next) = next.filter(is_ahead) {
                ahead.push((name, start, next));
            }
        }
        Ok(ahead)
    }

    /// Returns true if a schedule was found to wait because the clock was ahead.
    pub(super) fn is_schedule_ahead(&self) -> bool {
        self.lock_schedules().is_ahead
    }

    /// Reports the schedules that leave out times until somebody retries the reaction.
    pub(super) async fn publish_schedules_ahead(&self) -> Result<(), ReactionError> {
        if self.steps.schedules.is_empty() {
            return Ok(());
        }
        let ahead = self.find_schedules_ahead().await?;
        let is_ahead = !ahead.is_empty();
        let was_ahead = std::mem::replace(&mut self.lock_schedules().is_ahead, is_ahead);
        let progress = &self.steps.progress;
        if let Some((step, _, at)) = ahead.first() {
            let reason = format!(
                "the clock was ahead, so the schedule of `{step}` has met all times before {at}: check the clock, \
                 then retry the reaction to let it go on with the next time"
            );
            if !was_ahead {
                tracing::error!(reaction = self.name(), reason, "a schedule waits");
            }
            progress.record_failure(SubscriberFailure::new(TroubleCause::Action, false, reason));
        } else if was_ahead {
            progress.record_success();
        }
        Ok(())
    }

    /// Lets the schedules that leave out times start now.
    pub(super) async fn restart_schedules_ahead(&self) -> Result<(), ReactionError> {
        let runtime = &self.steps.runtime;
        let now = self.now();
        for (_, start, _) in self.find_schedules_ahead().await? {
            start
                .record_anew(&*runtime.store, &runtime.source, now)
                .await?;
        }
        Ok(())
    }

    /// Lets all schedules that have started before start now.
    pub(super) async fn restart_schedules(&self) -> Result<(), ReactionError> {
        let runtime = &self.steps.runtime;
        let now = self.now();
        for step in self.steps.schedules.keys() {
            let name = (self.name(), self.steps.step_name(*step));
            let start = ScheduleStart::find(&*runtime.store, name, now).await?;
            if start.event.is_some() {
                start
                    .record_anew(&*runtime.store, &runtime.source, now)
                    .await?;
            }
        }
        Ok(())
    }
}
