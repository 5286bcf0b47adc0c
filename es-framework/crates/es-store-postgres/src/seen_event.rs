//! The identity of an event that this instance knows, and the check that the log still has it.

use super::database_error::DatabaseError;
use es_event::{EventId, Hash, RecordedEvent};

/// An event that this instance has written or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SeenEvent {
    pub(super) id: EventId,
    pub(super) hash: Hash,
}

impl SeenEvent {
    pub(super) const fn of(event: &RecordedEvent) -> Self {
        Self {
            id: event.id,
            hash: event.hash,
        }
    }
}

/// Checks that a log has the newest event that this instance has seen. `stored` is the hash of the event that the log
/// has in its place.
pub(super) fn check_end(
    seen: Option<SeenEvent>,
    last: Option<EventId>,
    stored: Option<Hash>,
) -> Result<(), DatabaseError> {
    let Some(seen) = seen else { return Ok(()) };
    let missing = EventId::count_to(Some(seen.id)).saturating_sub(EventId::count_to(last));
    if missing > 0 {
        return Err(DatabaseError::Lost(match last {
            Some(last) => format!(
                "the log ends at event {last}, but this instance has seen event {}: the last {missing} events are missing",
                seen.id
            ),
            None => format!("the log is empty, but it had {missing} events"),
        }));
    }
    match stored {
        Some(stored) if stored == seen.hash => Ok(()),
        Some(_) => Err(DatabaseError::Lost(format!(
            "event {} is another one than this instance has seen",
            seen.id
        ))),
        None => Err(DatabaseError::Lost(format!(
            "event {}, which this instance has seen, is missing",
            seen.id
        ))),
    }
}
