//! The identity of an event that this instance knows, and the check that the log still has it.

use super::database_error::{DatabaseError, LogLoss};
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
    let (found, expected) = (EventId::count_to(last), EventId::count_to(Some(seen.id)));
    if found < expected {
        return Err(DatabaseError::lost_part(&LogLoss::Events {
            found,
            expected,
        }));
    }
    match stored {
        Some(stored) if stored == seen.hash => Ok(()),
        Some(_) => {
            let event = seen.id;
            Err(DatabaseError::lost_part(&LogLoss::OtherEvent { event }))
        }
        None => Err(DatabaseError::Lost(format!(
            "event {}, which this instance has seen, is missing",
            seen.id
        ))),
    }
}
