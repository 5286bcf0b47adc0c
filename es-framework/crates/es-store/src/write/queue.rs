//! The queue of appends and other tasks that wait for the writer thread.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::{AppendError, EventSchema, Precondition, RegisterError, StoreError};
use es_event::{EventCandidate, EventType, RecordedEvent};

/// The result of one append.
pub type AppendOutcome = Result<Vec<RecordedEvent>, AppendError>;

/// An append that waits for the writer, and the caller who waits for its outcome.
#[derive(Debug)]
pub struct QueuedAppend {
    /// The events to append.
    pub candidates: Vec<EventCandidate>,
    /// The preconditions, which hold all together or none.
    pub preconditions: Vec<Precondition>,
    /// The size of the events and preconditions in bytes.
    pub bytes: usize,
    /// The number of registered schemas when the caller checked the candidates against them.
    pub schemas: usize,
    /// Receives the outcome.
    pub answer: oneshot::Sender<AppendOutcome>,
    /// The append's share of the queue, released when the append is answered.
    pub permit: OwnedSemaphorePermit,
}

/// A schema that waits to be registered.
#[derive(Debug)]
pub struct SchemaRegistration {
    /// The event type that the schema is for.
    pub event_type: EventType,
    /// The schema.
    pub schema: Arc<EventSchema>,
    /// The first event that the caller has not checked against the schema.
    pub unchecked: u64,
    /// Receives the outcome.
    pub answer: oneshot::Sender<Result<(), RegisterError>>,
}

/// A task that waits in the queue for the writer.
#[derive(Debug)]
pub enum QueuedTask {
    /// Appends events.
    Append(QueuedAppend),
    /// Registers a schema.
    Register(SchemaRegistration),
    /// Checks whether writing works.
    Probe(oneshot::Sender<Result<(), StoreError>>),
}

/// The result of waiting for tasks.
#[derive(Debug)]
pub enum QueueOutcome {
    /// Tasks to execute in one batch.
    Tasks(Vec<QueuedTask>),
    /// No task came in time.
    Idle,
    /// The queue is empty and closed.
    Closed,
}

/// The limits of one batch.
#[derive(Debug, Clone, Copy)]
pub struct BatchLimits {
    /// The number of events. A precondition counts as one, because it takes a lookup.
    pub events: usize,
    /// The size of the events and preconditions in bytes.
    pub bytes: usize,
}

impl BatchLimits {
    /// Subtracts an append from the limits. Returns false, and changes nothing, if it exceeds what is left.
    pub fn subtract(&mut self, append: &QueuedAppend) -> bool {
        let parts = append.candidates.len();
        let size = parts.saturating_add(append.preconditions.len()).max(1);
        let left = (
            self.events.checked_sub(size),
            self.bytes.checked_sub(append.bytes),
        );
        let (Some(events), Some(bytes)) = left else {
            return false;
        };
        *self = Self { events, bytes };
        true
    }
}

/// Tasks in the order of their arrival.
#[derive(Debug, Default)]
pub struct WriteQueue {
    state: Mutex<QueueState>,
    filled: Condvar,
}

/// Fails all waiting callers when the writer thread ends.
#[derive(Debug)]
pub struct AbandonQueueOnDrop(pub Arc<WriteQueue>);

impl Drop for AbandonQueueOnDrop {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// The waiting tasks, and whether the writer sleeps.
#[derive(Debug, Default)]
struct QueueState {
    tasks: VecDeque<QueuedTask>,
    /// The number of tasks that the sleeping writer waits for; `None` while it works. Waking a
    /// thread is a system call, so not every caller does it.
    wake_at: Option<usize>,
    closed: bool,
}

impl WriteQueue {
    /// Adds a task, or returns it when the queue is closed.
    pub fn push(&self, task: QueuedTask) -> Result<(), QueuedTask> {
        let mut state = self.lock();
        if state.closed {
            return Err(task);
        }
        state.tasks.push_back(task);
        let wake = state
            .wake_at
            .is_some_and(|count| state.tasks.len() >= count);
        if wake {
            state.wake_at = None;
        }
        drop(state);
        if wake {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// Returns the number of tasks that wait.
    pub fn waiting_tasks(&self) -> usize {
        self.lock().tasks.len()
    }

    /// From now on, rejects further tasks. The writer still executes those in the queue.
    pub fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_one();
    }

    /// Closes the queue and drops the tasks that wait in it, because the writer has ended. Their callers get an error.
    pub fn abandon(&self) {
        let tasks = {
            let mut state = self.lock();
            state.closed = true;
            std::mem::take(&mut state.tasks)
        };
        drop(tasks);
    }

    /// Lingers until `target` tasks wait, then waits for any task, at most for `idle`.
    pub fn take(
        &self,
        (target, linger): (usize, Duration),
        idle: Duration,
        limits: BatchLimits,
    ) -> QueueOutcome {
        let mut state = self.lock();
        if target > 1 {
            state = self.wait(state, target.min(limits.events), linger);
        }
        state = self.wait(state, 1, idle);
        match (state.tasks.is_empty(), state.closed) {
            (false, _) => QueueOutcome::Tasks(state.drain(limits)),
            (true, false) => QueueOutcome::Idle,
            (true, true) => QueueOutcome::Closed,
        }
    }

    /// Takes the appends that already wait, in their order, as long as they stay within the limits. It
    /// stops before a task of another kind.
    pub fn take_appends(&self, limits: BatchLimits) -> Vec<QueuedAppend> {
        let mut state = self.lock();
        let fitting = state.fitting_tasks(limits);
        let mut appends = Vec::with_capacity(fitting);
        while appends.len() < fitting {
            match state.tasks.pop_front() {
                Some(QueuedTask::Append(append)) => appends.push(append),
                Some(other) => {
                    state.tasks.push_front(other);
                    break;
                }
                None => break,
            }
        }
        appends
    }

    /// Waits until this number of tasks is queued, the queue is closed or the time is over.
    fn wait<'a>(
        &self,
        mut state: MutexGuard<'a, QueueState>,
        count: usize,
        limit: Duration,
    ) -> MutexGuard<'a, QueueState> {
        let begun = Instant::now();
        while state.tasks.len() < count && !state.closed {
            let Some(left) = limit.checked_sub(begun.elapsed()) else {
                break;
            };
            state.wake_at = Some(count);
            state = self
                .filled
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        state.wake_at = None;
        state
    }

    /// No change of the state can panic halfway, so a poisoned lock still guards a consistent state.
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueState {
    /// Removes the first tasks within the limits, at least one.
    fn drain(&mut self, limits: BatchLimits) -> Vec<QueuedTask> {
        let count = self.fitting_tasks(limits).max(1).min(self.tasks.len());
        self.tasks.drain(..count).collect()
    }

    /// Returns how many of the first tasks stay within the limits together.
    fn fitting_tasks(&self, limits: BatchLimits) -> usize {
        let mut left = limits;
        let fits = |task: &&QueuedTask| match task {
            QueuedTask::Append(append) => left.subtract(append),
            QueuedTask::Register(_) | QueuedTask::Probe(_) => true,
        };
        self.tasks.iter().take_while(fits).count()
    }
}

/// Returns about how many bytes an event takes in memory and in the write-ahead log.
pub fn candidate_size(candidate: &EventCandidate) -> usize {
    let EventCandidate {
        source,
        subject,
        event_type,
        data,
        trace: _,
    } = candidate;
    [
        source.len(),
        subject.as_str().len(),
        event_type.as_str().len(),
        data.get().len(),
    ]
    .into_iter()
    .fold(128, usize::saturating_add)
}

/// Returns about how many bytes a precondition takes in memory.
pub fn precondition_size(precondition: &Precondition) -> usize {
    let subject = precondition
        .subject()
        .map_or(0, |subject| subject.as_str().len());
    subject.saturating_add(64)
}

#[cfg(test)]
mod tests {
    use tokio::sync::Semaphore;

    use super::*;

    #[test]
    fn the_preconditions_of_an_append_count_in_a_batch() {
        let precondition = Precondition::SubtreeIsPristine("/a".parse().unwrap());
        let append = |count| QueuedAppend {
            candidates: vec![],
            preconditions: vec![precondition.clone(); count],
            bytes: 0,
            schemas: 0,
            answer: oneshot::channel().0,
            permit: Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap(),
        };
        let mut left = BatchLimits {
            events: 10,
            bytes: 0,
        };
        assert!(left.subtract(&append(6)));
        assert!(!left.subtract(&append(6)));
        assert!(left.subtract(&append(3)));
        assert!(left.subtract(&append(0)), "an empty append counts as one");
        assert!(!left.subtract(&append(0)));
    }
}
