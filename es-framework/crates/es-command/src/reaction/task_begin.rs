//! Begins the tasks that are due, as far as more may be executed at once.

use std::sync::Arc;

use jiff::Timestamp;
use tokio::time::Instant;

use super::{
    ReactionError,
    planner::PLANNING,
    step_executor::StepExecutor,
    task_executor::{MAX_RETRIED, TaskEnd, TaskExecutor},
};
use es_event::{EventId, RecordedEvent};
use es_store::{StoreError, event_with_id};
use es_subscribe::state::{Task, TaskChange};

impl TaskExecutor {
    /// Begins tasks that are due, as far as more may be executed at once. Returns true if it has begun some.
    pub(super) async fn begin_tasks(
        &mut self,
        due: Vec<Task>,
        until: Option<Timestamp>,
    ) -> Result<bool, ReactionError> {
        let (mut chosen, mut changes) = (Vec::new(), Vec::new());
        let steps = self.shared.steps.clone();
        let mut has_planned = false;
        for task in due {
            if !self.may_begin(&task, chosen.len()) {
                continue;
            }
            if task.key.step == PLANNING {
                if let Err(error) = self.plan_again(&task).await {
                    self.give_up(&chosen);
                    return Err(error);
                }
                has_planned = true;
                continue;
            }
            let replaced = until.and_then(|until| steps.skip_missed_times(&task, until));
            if let Some(replaced) = replaced {
                changes.extend(replaced);
                continue;
            }
            if steps.makes_call(&task.key.step) {
                changes.push(TaskChange::Begin(task.key.clone()));
            }
            self.busy
                .insert(task.subject.clone(), task.failure.is_some());
            chosen.push(task);
        }
        let has_begun = has_planned || !chosen.is_empty() || !changes.is_empty();
        if let Err(error) = self.save_begin(&changes, !chosen.is_empty()).await {
            self.give_up(&chosen);
            return Err(error);
        }
        for task in chosen {
            self.running.spawn(execute(steps.clone(), task));
        }
        Ok(has_begun)
    }

    /// Begins none of these tasks.
    fn give_up(&mut self, chosen: &[Task]) {
        for task in chosen {
            self.busy.remove(&task.subject);
        }
    }

    /// Saves that calls begin, so that a kill of the process does not hide them.
    async fn save_begin(
        &self,
        changes: &[TaskChange],
        executes: bool,
    ) -> Result<(), ReactionError> {
        if executes {
            self.shared.announce().await?;
        }
        if !changes.is_empty() {
            let name = self.shared.name();
            self.shared.state().commit(name, None, changes).await?;
        }
        Ok(())
    }

    fn may_begin(&self, task: &Task, chosen: usize) -> bool {
        let running = self.running.len().saturating_add(chosen);
        if running >= self.max_running || self.busy.contains_key(&task.subject) {
            return false;
        }
        if task.failure.is_some() {
            let retried = self.busy.values().filter(|is_retry| **is_retry);
            return retried.count() < MAX_RETRIED;
        }
        match &self.refused {
            Some(refused) => task.subject == refused.subject && Instant::now() >= refused.next,
            None => true,
        }
    }

    /// Plans the steps of an event that could not be planned before. Meanwhile no later event is planned.
    async fn plan_again(&mut self, task: &Task) -> Result<(), ReactionError> {
        let shared = Arc::clone(&self.shared);
        let planned = shared.planned.lock().await;
        let steps = &shared.steps;
        let (event, result) = match load_event(steps, task.key.event).await {
            Ok(event) => {
                let planning = steps.plan_late(&event, planned.event).await;
                (Some(event), planning)
            }
            Err(error) => (None, Err(error)),
        };
        let (planned_steps, result) = match result {
            Ok(changes) => (changes, Ok(())),
            Err(error) => (Vec::new(), Err(error)),
        };
        let task = task.clone();
        self.settle(TaskEnd {
            task,
            event,
            result,
        })?;
        self.unsaved.extend(planned_steps);
        self.save_ends().await
    }
}

/// Executes a task.
async fn execute(steps: StepExecutor, task: Task) -> TaskEnd {
    let (event, result) = match load_event(&steps, task.key.event).await {
        Ok(event) => {
            let result = steps.execute_task(&event, &task.key).await;
            (Some(event), result)
        }
        Err(error) => (None, Err(error)),
    };
    TaskEnd {
        task,
        event,
        result,
    }
}

/// Reads the event of a task.
async fn load_event(steps: &StepExecutor, event: EventId) -> Result<RecordedEvent, ReactionError> {
    let loaded = event_with_id(&*steps.runtime.store, event).await?;
    let missing = || StoreError::Refused(format!("event {event} is missing in the event store"));
    Ok(loaded.ok_or_else(missing)?)
}
