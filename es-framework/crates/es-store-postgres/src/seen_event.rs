//! An event that this instance has written or read. A server without it has lost events, or is an old primary.

use es_event::{EventId, Hash, RecordedEvent};

/// An event that this instance has written or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SeenEvent {
    pub(super) id: EventId,
    pub(super) hash: Hash,
}

impl SeenEvent {
    pub(super) const fn of(event: &RecordedEvent) -> Self {
        let RecordedEvent { id, hash, .. } = *event;
        Self { id, hash }
    }
}
