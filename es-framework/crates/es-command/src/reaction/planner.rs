//! Plans the tasks that follow from an event, as changes of the rows of the state database.

use futures_util::TryStreamExt as _;
use jiff::Timestamp;

use super::{
    ReactionError,
    step_executor::{StepExecutor, StepOfEventView, StepsAfterEvent},
};
use es_event::{EventId, RecordedEvent};
use es_store::{Bound, ReadOptions};
use es_subscribe::state::{Task, TaskChange, TaskKey};

/// The step of a task for an event whose steps cannot be planned. No function has an empty name.
pub(super) const PLANNING: &str = "";

impl StepExecutor {
    /// Returns the changes that follow from an event. If its steps cannot be planned, this is a task that plans them later.
    pub(super) fn plan_event(&self, event: &RecordedEvent) -> Vec<TaskChange> {
        if let Some(restarted) = self.plan_schedule(event) {
            return restarted;
        }
        if !self.event_types.contains(&event.event_type) {
            return Vec::new();
        }
        match self.plan_steps(event) {
            Ok(steps) => self.build_changes(event, &steps),
            Err(_) => vec![TaskChange::Plan(build_task(event, PLANNING, 0, None, 0))],
        }
    }

    /// Returns true if tasks may follow from some of the events.
    pub(super) fn concerns_some(&self, events: &[RecordedEvent]) -> bool {
        let types = &self.event_types;
        events.iter().any(|event| types.contains(&event.event_type))
    }

    /// Plans the steps of an event of which nothing was planned before. Events behind it, up to a position, may have
    /// cancelled deadlines that it sets.
    pub(super) async fn plan_late(
        &self,
        event: &RecordedEvent,
        position: Option<EventId>,
    ) -> Result<Vec<TaskChange>, ReactionError> {
        let steps = self.plan_steps(event)?;
        let mut changes = self.build_changes(event, &steps);
        if steps.deadlines.is_empty() {
            return Ok(changes);
        }
        let options = ReadOptions {
            lower_bound: Some(Bound::Exclusive(event.id)),
            upper_bound: position.map(Bound::Inclusive),
            event_types: self.event_types.to_vec(),
            ..ReadOptions::default()
        };
        let mut later = self.runtime.store.read(event.subject.clone(), options);
        while let Some(later) = later.try_next().await? {
            // An event that cannot be planned either has a task of its own.
            let cancelled = self.plan_steps(&later).unwrap_or_default().cancelled_steps;
            changes.retain(|change| match change {
                TaskChange::Plan(task) if task.key.due.is_some() => {
                    let mut cancelled = cancelled.iter();
                    !cancelled.any(|step| self.step_name(*step) == task.key.step)
                }
                _ => true,
            });
        }
        Ok(changes)
    }

    /// Builds the changes of the rows. A step that sends no command after this event has no row.
    fn build_changes(&self, event: &RecordedEvent, steps: &StepsAfterEvent) -> Vec<TaskChange> {
        let cancelled = steps.cancelled_steps.iter();
        let cancelled = cancelled.map(|step| TaskChange::Cancel {
            step: self.step_name(*step).into(),
            subject: event.subject.clone(),
            before: event.id,
        });
        let deadlines = steps.deadlines.iter();
        let deadlines = deadlines.map(|(at, instance)| (*instance, Some(*at)));
        let immediate = steps.immediate.iter();
        let immediate = immediate.filter(|instance| !self.sends_nothing(event, **instance));
        let immediate = immediate.map(|instance| (*instance, None));
        let planned = immediate.chain(deadlines).map(|(instance, due)| {
            let StepOfEventView { step, view } = instance;
            let steps = self.reaction.steps.len();
            let order = view.saturating_mul(steps).saturating_add(step);
            TaskChange::Plan(build_task(event, self.step_name(step), view, due, order))
        });
        cancelled.chain(planned).collect()
    }
}

/// Returns a new task.
pub(super) fn build_task(
    event: &RecordedEvent,
    step: &'static str,
    view: usize,
    due: Option<Timestamp>,
    order: usize,
) -> Task {
    Task {
        key: TaskKey {
            step: step.into(),
            event: event.id,
            view: u32::try_from(view).unwrap_or(u32::MAX),
            due,
        },
        order: u32::try_from(order).unwrap_or(u32::MAX),
        subject: event.subject.clone(),
        event_type: event.event_type.clone(),
        event_time: event.time.timestamp().unwrap_or_default(),
        attempts: 0,
        failure: None,
    }
}

/// Returns the task of the same schedule for another time.
pub(super) fn at_time(task: &Task, time: Timestamp) -> Task {
    Task {
        key: TaskKey {
            due: Some(time),
            ..task.key.clone()
        },
        attempts: 0,
        failure: None,
        ..task.clone()
    }
}
