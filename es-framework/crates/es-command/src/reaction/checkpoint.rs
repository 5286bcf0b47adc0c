//! The checkpoint of a reaction. It is an event in the event store, so that every process and every
//! restart has it, independent of the read model database.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    held_subject::HeldSubjects,
    reaction_progress::{ReactionProgress, ReactionTask},
};
use es_event::{EventId, EventType};

/// The type of the events that are checkpoints.
pub(super) const CHECKPOINT_TYPE: EventType =
    EventType::declared("io.es-framework.ReactionCheckpointedEvent");
/// The upper limit of a lease, whatever its checkpoint says.
const MAX_LEASE_DURATION: Duration = Duration::from_secs(600);

/// The lease of one process on calls, and the first of them. Other processes wait for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CallLease {
    /// The process that holds the lease.
    #[serde(rename = "by")]
    owner: Uuid,
    task: ReactionTask,
    /// Counts the renewals, and tells a lease from the next one on the same call.
    #[serde(rename = "beat")]
    renewals: u64,
    /// The lease expires after this many seconds without a renewal.
    #[serde(rename = "hold")]
    seconds: u64,
}

/// The result of an attempt to get the lease on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeaseResult {
    /// This process holds the lease.
    Acquired,
    /// Another process holds the lease.
    HeldElsewhere,
    /// The call was made.
    AlreadyDone,
    /// The subject is held, and this process does not retry it.
    SubjectIsHeld,
    /// Another process wrote a checkpoint meanwhile. Try again.
    Conflict,
}

/// The payload of a checkpoint event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ReactionCheckpoint {
    #[serde(flatten)]
    pub(super) progress: ReactionProgress,
    /// The tasks beyond `progress` that were executed or skipped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) done: Vec<ReactionTask>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "claim")]
    pub(super) lease: Option<CallLease>,
    /// The subjects that wait. `progress` does not count for them.
    #[serde(default, skip_serializing_if = "HeldSubjects::is_empty")]
    pub(super) held: HeldSubjects,
}

impl ReactionCheckpoint {
    /// Returns whether a checkpoint with this id can have recorded all of this.
    pub(super) fn is_before(&self, checkpoint: EventId) -> bool {
        let mut held = self.held.values();
        self.progress.is_before(checkpoint)
            && held.all(|held| held.progress.position < Some(checkpoint))
    }

    /// Returns whether a task on a subject that is not held was executed or skipped.
    pub(super) fn is_task_done(&self, task: &ReactionTask) -> bool {
        self.progress.covers(task) || self.done.contains(task)
    }
}

impl CallLease {
    /// Creates a lease behind the last checkpoint. An earlier lease has fewer renewals, because each renewal is an event.
    pub(super) fn new(
        owner: Uuid,
        task: ReactionTask,
        duration: Duration,
        last: Option<EventId>,
    ) -> Self {
        Self {
            owner,
            task,
            renewals: last.map_or(0, EventId::get),
            seconds: duration.as_secs(),
        }
    }

    pub(super) fn belongs_to(&self, instance: Uuid) -> bool {
        self.owner == instance
    }

    /// Returns the renewed lease.
    pub(super) fn renewed(&self, duration: Duration) -> Self {
        Self {
            renewals: self.renewals.wrapping_add(1),
            seconds: duration.as_secs(),
            ..self.clone()
        }
    }

    pub(super) fn duration(&self) -> Duration {
        Duration::from_secs(self.seconds).min(MAX_LEASE_DURATION)
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::*;

    fn event(id: u64) -> EventId {
        EventId::new(id).unwrap()
    }

    fn second(second: i64) -> Timestamp {
        Timestamp::new(second, 0).unwrap()
    }

    fn task(id: u64, at: Option<i64>) -> ReactionTask {
        ReactionTask {
            event: event(id),
            step: "call".into(),
            view: 0,
            at: at.map(second),
        }
    }

    fn progress() -> ReactionProgress {
        ReactionProgress {
            position: Some(event(7)),
            settled: second(10)
                .checked_sub(SignedDuration::from_nanos(1))
                .unwrap(),
            settled_before: Some(event(5)),
            open_from: Some(event(5)),
        }
    }

    #[test]
    fn progress_covers_handled_events_and_met_deadlines() {
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
    fn a_checkpoint_of_an_older_release_is_read() {
        let written = r#"{"position":"7","settled":"2026-03-01T00:00:00Z","openFrom":null}"#;
        let read: ReactionCheckpoint = serde_json::from_str(written).unwrap();
        assert_eq!(read.progress.position, Some(event(7)));
        assert_eq!((read.done.len(), read.lease, read.held.len()), (0, None, 0));
        assert_eq!(serde_json::to_string(&read.progress).unwrap(), written);
    }

    #[test]
    fn a_checkpoint_with_a_lease_is_read_as_it_was_written() {
        let lease = CallLease::new(
            Uuid::from_u128(1),
            task(8, Some(12)),
            MAX_LEASE_DURATION,
            None,
        );
        let written = ReactionCheckpoint {
            progress: progress(),
            done: vec![task(8, None)],
            lease: Some(lease.renewed(MAX_LEASE_DURATION)),
            held: HeldSubjects::default(),
        };
        let json = serde_json::to_string(&written).unwrap();
        assert_eq!(
            serde_json::from_str::<ReactionCheckpoint>(&json).unwrap(),
            written
        );
        assert_ne!(written.lease, Some(lease));
    }
}
