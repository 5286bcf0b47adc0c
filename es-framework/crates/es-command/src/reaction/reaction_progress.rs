//! The progress of a reaction, and its tasks.

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use es_event::EventId;

const NANOSECOND: SignedDuration = SignedDuration::from_nanos(1);

/// The position of a reaction in the events and in the deadlines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReactionProgress {
    /// The last event that was handled, if any.
    pub(super) position: Option<EventId>,
    /// All deadlines until this time that events up to `position` set were met or cancelled.
    pub(super) settled: Timestamp,
    /// The deadlines one nanosecond after `settled` that events before this one set were met or
    /// cancelled, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) settled_before: Option<EventId>,
    /// The first event with an open deadline.
    pub(super) open_from: Option<EventId>,
}

/// One execution of a step, at an event or at one of its deadlines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ReactionTask {
    pub(super) event: EventId,
    pub(super) step: Cow<'static, str>,
    /// The index of the event among those that upcasters made of the stored one.
    pub(super) view: usize,
    /// The deadline, if the step has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<Timestamp>,
}

impl ReactionProgress {
    /// Returns whether a task is finished at this position.
    pub(super) fn covers(&self, task: &ReactionTask) -> bool {
        let is_met = task
            .at
            .is_none_or(|at| self.has_settled_deadline(at, task.event));
        self.has_passed(task.event) && is_met
    }

    pub(super) fn has_passed(&self, event: EventId) -> bool {
        self.position >= Some(event)
    }

    /// Returns whether the deadline of an event at this time was met or cancelled, if the event was
    /// handled.
    pub(super) fn has_settled_deadline(&self, at: Timestamp, event: EventId) -> bool {
        let is_next = self.settled.checked_add(NANOSECOND).ok() == Some(at);
        at <= self.settled || is_next && Some(event) < self.settled_before
    }

    /// Returns whether a checkpoint with this id can have recorded the progress: each event in it was stored
    /// before.
    pub(super) fn is_before(&self, checkpoint: EventId) -> bool {
        // The deadlines of an event are known before the event is handled to its end.
        let newest = self.position.max(self.open_from).max(self.settled_before);
        newest < Some(checkpoint)
    }

    /// Returns whether everything that the other progress covers is covered by this one, too.
    pub(super) fn covers_all_of(&self, other: &Self) -> bool {
        let settled = |progress: &Self| (progress.settled, progress.settled_before);
        self.position >= other.position && settled(self) >= settled(other)
    }

    /// Includes the events with open deadlines of another progress, as far as this one has passed them.
    pub(super) fn include_deadlines_of(&mut self, other: &Self) {
        let passed = other.open_from.filter(|event| self.has_passed(*event));
        self.open_from = [self.open_from, passed].into_iter().flatten().min();
    }
}
