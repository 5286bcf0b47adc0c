//! An event that this instance has written or read. A server without it has lost events, or is an old primary.

use es_event::{EventId, Hash};

/// An event that this instance has written or read.
#[derive(Debug, Clone, Copy)]
pub(super) struct SeenEvent {
    pub(super) id: EventId,
    pub(super) hash: Hash,
}
