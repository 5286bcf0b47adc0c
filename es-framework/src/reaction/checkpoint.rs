//! How far a reaction has come, as it is kept in the event store: it is there for every instance and
//! after every restart, whatever database the read models are in.

use std::{borrow::Cow, time::Duration};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::event::EventId;

/// No claim is waited for longer than this, whatever is written in it.
const LONGEST_HOLD: Duration = Duration::from_secs(600);
const NANOSECOND: SignedDuration = SignedDuration::from_nanos(1);

/// What has been taken and met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Progress {
    /// The last event that was taken; `None`, and none was.
    pub(super) position: Option<EventId>,
    /// Of the deadlines that events up to there name, those until this time were met or cancelled.
    pub(super) settled: Timestamp,
    /// Of those a nanosecond after it, the ones that events before this one name were, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) settled_before: Option<EventId>,
    /// The first event that names one that was not.
    pub(super) open_from: Option<EventId>,
}

/// Something to do once: what a step leads to at an event, or at a deadline that it names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) event: EventId,
    pub(super) step: Cow<'static, str>,
    /// Which of the events that an upcaster made of that one.
    pub(super) view: usize,
    /// ReactionTiming it is due, if not at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<Timestamp>,
}

/// An instance makes a call, and the others leave it to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claim {
    /// The instance.
    by: Uuid,
    task: Task,
    /// How often it has said so.
    beat: u64,
    /// After so many seconds without another beat, it is taken to be gone.
    hold: u64,
}

/// What is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Checkpoint {
    #[serde(flatten)]
    pub(super) progress: Progress,
    /// What was done or left out beyond that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) done: Vec<Task>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) claim: Option<Claim>,
}

impl Progress {
    /// Whether a task lies behind it.
    pub(super) fn covers(&self, task: &Task) -> bool {
        let is_met = task.at.is_none_or(|at| self.has_settled(at, task.event));
        self.has_taken(task.event) && is_met
    }

    pub(super) fn has_taken(&self, event: EventId) -> bool {
        self.position >= Some(event)
    }

    /// Whether the deadlines are settled that an event names for a time, if the event was taken.
    pub(super) fn has_settled(&self, at: Timestamp, event: EventId) -> bool {
        let is_next = self.settled.checked_add(NANOSECOND).ok() == Some(at);
        at <= self.settled || is_next && Some(event) < self.settled_before
    }

    pub(super) fn is_beyond(&self, other: &Self) -> bool {
        let reached = |one: &Self| (one.position, one.settled, one.settled_before);
        reached(self) > reached(other)
    }
}

impl Checkpoint {
    /// Whether something was done or left out.
    pub(super) fn has_noted(&self, task: &Task) -> bool {
        self.progress.covers(task) || self.done.contains(task)
    }
}

impl Claim {
    pub(super) fn new(by: Uuid, task: Task, hold: Duration) -> Self {
        Self {
            by,
            task,
            beat: 0,
            hold: hold.as_secs(),
        }
    }

    pub(super) fn is_by(&self, instance: Uuid) -> bool {
        self.by == instance
    }

    pub(super) fn is_for(&self, task: &Task) -> bool {
        self.task == *task
    }

    /// The same, said once more.
    pub(super) fn again(&self, hold: Duration) -> Self {
        Self {
            beat: self.beat.wrapping_add(1),
            hold: hold.as_secs(),
            ..self.clone()
        }
    }

    pub(super) fn hold(&self) -> Duration {
        Duration::from_secs(self.hold).min(LONGEST_HOLD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: u64) -> EventId {
        EventId::new(id).unwrap()
    }

    fn second(second: i64) -> Timestamp {
        Timestamp::new(second, 0).unwrap()
    }

    fn task(id: u64, at: Option<i64>) -> Task {
        Task {
            event: event(id),
            step: "call".into(),
            view: 0,
            at: at.map(second),
        }
    }

    fn progress() -> Progress {
        Progress {
            position: Some(event(7)),
            settled: second(10).checked_sub(NANOSECOND).unwrap(),
            settled_before: Some(event(5)),
            open_from: Some(event(5)),
        }
    }

    #[test]
    fn progress_covers_what_was_taken_and_met() {
        for (id, at, covered) in [
            (7, None, true),
            (8, None, false),
            (7, Some(9), true),
            (8, Some(9), false),
            (4, Some(10), true),
            (5, Some(10), false),
            (4, Some(11), false),
        ] {
            assert_eq!(progress().covers(&task(id, at)), covered, "{id} {at:?}");
        }
    }

    #[test]
    fn what_an_older_release_wrote_is_read() {
        let written = r#"{"position":"7","settled":"2026-03-01T00:00:00Z","openFrom":null}"#;
        let read: Checkpoint = serde_json::from_str(written).unwrap();
        assert_eq!(read.progress.position, Some(event(7)));
        assert_eq!((read.done.len(), read.claim), (0, None));
        assert_eq!(serde_json::to_string(&read.progress).unwrap(), written);
    }

    #[test]
    fn a_checkpoint_with_a_claim_is_read_as_it_was_written() {
        let claim = Claim::new(Uuid::from_u128(1), task(8, Some(12)), LONGEST_HOLD);
        let written = Checkpoint {
            progress: progress(),
            done: vec![task(8, None)],
            claim: Some(claim.again(LONGEST_HOLD)),
        };
        let json = serde_json::to_string(&written).unwrap();
        assert_eq!(serde_json::from_str::<Checkpoint>(&json).unwrap(), written);
        assert_ne!(written.claim, Some(claim));
    }
}
