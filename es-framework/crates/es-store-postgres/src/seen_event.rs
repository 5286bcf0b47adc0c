//! The identity of an event that this instance knows.

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
