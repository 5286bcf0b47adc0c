//! What waits for the writer.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::{
    event::{EventCandidate, EventType, RecordedEvent},
    store::{AppendError, EventSchema, Precondition, RegisterError, StoreError},
};

/// The answer to an append.
pub(super) type Answer = Result<Vec<RecordedEvent>, AppendError>;

/// An append that waits.
#[derive(Debug)]
pub(super) struct Append {
    pub(super) candidates: Vec<EventCandidate>,
    pub(super) preconditions: Vec<Precondition>,
    pub(super) bytes: usize,
    /// How many schemas there were when the candidates were checked against them.
    pub(super) schemas: usize,
    pub(super) answer: oneshot::Sender<Answer>,
    /// Its room in the queue, given back when it is answered.
    pub(super) permit: OwnedSemaphorePermit,
}

/// A schema that is to be registered.
#[derive(Debug)]
pub(super) struct Register {
    pub(super) event_type: EventType,
    pub(super) schema: Arc<EventSchema>,
    /// The first event that was not checked against it yet.
    pub(super) unchecked: u64,
    pub(super) answer: oneshot::Sender<Result<(), RegisterError>>,
}

/// Something for the writer to do.
#[derive(Debug)]
pub(super) enum Task {
    Append(Append),
    Register(Register),
    /// Says whether writing works.
    Probe(oneshot::Sender<Result<(), StoreError>>),
    /// Pretends that the disk ends after so many pages.
    #[cfg(test)]
    LimitPages(u32),
    /// A bug.
    #[cfg(test)]
    Panic,
}

/// What the writer found.
#[derive(Debug)]
pub(super) enum Work {
    Tasks(Vec<Task>),
    /// Nothing for a while.
    Nothing,
    /// Nothing, and nothing will come.
    Closed,
}

/// How much the writer takes at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) events: usize,
    pub(super) bytes: usize,
}

/// Tasks in the order they came.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
}

#[derive(Debug, Default)]
struct State {
    tasks: VecDeque<Task>,
    /// The number of tasks that the sleeping writer waits for; `None` while it works. Waking a
    /// thread is a system call that every caller would pay for.
    wake_at: Option<usize>,
    closed: bool,
}

impl Queue {
    /// Adds a task, or gives it back when the store is closed.
    pub(super) fn push(&self, task: Task) -> Result<(), Task> {
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

    pub(super) fn len(&self) -> usize {
        self.lock().tasks.len()
    }

    /// Takes no more tasks. The writer does those that are there.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_one();
    }

    /// Drops what nobody will do any more; its callers hear of it.
    pub(super) fn abandon(&self) {
        let tasks = {
            let mut state = self.lock();
            state.closed = true;
            std::mem::take(&mut state.tasks)
        };
        drop(tasks);
    }

    /// Waits a moment for `company`, then for anything at all but not longer than `idle`.
    pub(super) fn take(
        &self,
        (company, linger): (usize, Duration),
        idle: Duration,
        limits: Limits,
    ) -> Work {
        let mut state = self.lock();
        if company > 1 {
            state = self.wait(state, company.min(limits.events), linger);
        }
        state = self.wait(state, 1, idle);
        match (state.tasks.is_empty(), state.closed) {
            (false, _) => Work::Tasks(state.drain(limits)),
            (true, false) => Work::Nothing,
            (true, true) => Work::Closed,
        }
    }

    fn wait<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
        count: usize,
        limit: Duration,
    ) -> MutexGuard<'a, State> {
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

    /// Nothing here can panic half way, so a poisoned lock guards a whole state.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The first tasks within the limits, one at least.
    fn drain(&mut self, limits: Limits) -> Vec<Task> {
        let (mut events, mut bytes, mut count) = (0_usize, 0_usize, 0_usize);
        for task in &self.tasks {
            if let Task::Append(append) = task {
                events = events.saturating_add(append.candidates.len().max(1));
                bytes = bytes.saturating_add(append.bytes);
            }
            if count > 0 && (events > limits.events || bytes > limits.bytes) {
                break;
            }
            count = count.saturating_add(1);
        }
        self.tasks.drain(..count).collect()
    }
}

/// About as many bytes as an event takes in memory and in the log.
pub(super) fn size(candidate: &EventCandidate) -> usize {
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
