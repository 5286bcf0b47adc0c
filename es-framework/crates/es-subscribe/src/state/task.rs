//! A task: one execution of a step, at an event or at one of its deadlines.

use std::borrow::Cow;

use es_event::{EventId, EventType, PoisonEvent, Subject};
use jiff::Timestamp;

use crate::{HeldKey, HeldKeyKind};

/// The identity of a task of one subscriber.
///
/// ```
/// use es_event::EventId;
/// use es_subscribe::state::TaskKey;
///
/// let at_once = TaskKey { step: "print".into(), event: EventId::FIRST, view: 0, due: None };
/// let later = TaskKey { due: "2026-07-29T12:00:00Z".parse().ok(), ..at_once.clone() };
/// assert!(at_once < later);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskKey {
    /// The name of the step.
    pub step: Cow<'static, str>,
    /// The event of the task.
    pub event: EventId,
    /// The index of the event among those that upcasters made of the stored one.
    pub view: u32,
    /// The deadline, or the time of the schedule. Without one, the task is due at once.
    pub due: Option<Timestamp>,
}

/// A task that is not finished.
///
/// ```
/// use es_event::RecordedEvent;
/// use es_subscribe::state::{Task, TaskKey};
/// use jiff::Timestamp;
///
/// /// The task of the first step after an event.
/// fn first_task(event: &RecordedEvent) -> Task {
///     Task {
///         key: TaskKey { step: "print".into(), event: event.id, view: 0, due: None },
///         order: 0,
///         subject: event.subject.clone(),
///         event_type: event.event_type.clone(),
///         event_time: event.time.timestamp().unwrap_or(Timestamp::UNIX_EPOCH),
///         attempts: 0,
///         failure: None,
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The identity.
    pub key: TaskKey,
    /// The place among the tasks of the event, in which they are executed.
    pub order: u32,
    /// The subject of the event. Tasks of one subject are executed one after the other.
    pub subject: Subject,
    /// The type of the event.
    pub event_type: EventType,
    /// The time of the event.
    pub event_time: Timestamp,
    /// The number of attempts that were begun.
    pub attempts: u32,
    /// The last failure, if an attempt has failed.
    pub failure: Option<TaskFailure>,
}

/// The failure of a task. The task holds its subject until it is finished.
///
/// ```
/// use es_subscribe::state::TaskFailure;
///
/// let failure = TaskFailure { reason: "the printer is away".into(), retry_at: None };
/// assert!(failure.retry_at.is_none(), "an operator makes the next attempt");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskFailure {
    /// The reason.
    pub reason: String,
    /// The time of the next attempt, unless only an operator or a start makes one.
    pub retry_at: Option<Timestamp>,
}

/// A change of the tasks of one subscriber.
///
/// ```
/// use es_subscribe::state::{StateDatabase, StateError, Task, TaskChange};
///
/// /// Removes a task that was executed.
/// async fn finish(database: &StateDatabase, task: Task) -> Result<(), StateError> {
///     let Task { key, subject, .. } = task;
///     database.commit("receipts", None, &[TaskChange::Finish { key, subject }]).await
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskChange {
    /// Adds a task. A task that is there stays as it is.
    Plan(Task),
    /// Removes the tasks of a step that are due at a time and belong to events before one that cancels them.
    Cancel {
        /// The name of the step.
        step: Cow<'static, str>,
        /// The subject.
        subject: Subject,
        /// The event that cancels them.
        before: EventId,
    },
    /// Counts an attempt that begins.
    Begin(TaskKey),
    /// Removes a task that was executed or skipped.
    Finish {
        /// The task.
        key: TaskKey,
        /// Its subject, whose later tasks wait no longer.
        subject: Subject,
    },
    /// Ends the subscriber and removes all of its tasks.
    End,
    /// Records a failure. All other tasks of the subject wait until the task is finished.
    Fail {
        /// The task.
        key: TaskKey,
        /// Its subject.
        subject: Subject,
        /// The number of attempts.
        attempts: u32,
        /// The failure.
        failure: TaskFailure,
    },
}

impl Task {
    /// Creates the report of the event of the task with the reason of a failure.
    #[must_use]
    pub fn poison_event(&self, reason: &str) -> PoisonEvent {
        PoisonEvent {
            id: self.key.event,
            subject: Some(self.subject.clone()),
            event_type: Some(self.event_type.clone()),
            reason: reason.to_owned(),
        }
    }

    /// Returns the key that operators see while the task holds its subject.
    #[must_use]
    pub fn to_held_key(&self) -> Option<HeldKey> {
        let failure = self.failure.as_ref()?;
        let (poison, key) = (self.poison_event(&failure.reason), self.subject.as_str());
        Some(HeldKey {
            next_attempt: failure.retry_at,
            ..HeldKey::new(HeldKeyKind::Subject, key, poison, self.event_time)
        })
    }
}
