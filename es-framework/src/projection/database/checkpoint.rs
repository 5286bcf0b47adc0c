//! How far a table has come: the last event whose effects it holds.

use crate::event::{EventId, Hash, RecordedEvent};

/// The last event whose effects a table holds. Its hash tells the event store that it came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::projection) struct Checkpoint {
    pub(in crate::projection) id: EventId,
    pub(in crate::projection) hash: Hash,
}

impl Checkpoint {
    pub(in crate::projection) const fn at(event: &RecordedEvent) -> Self {
        Self {
            id: event.id,
            hash: event.hash,
        }
    }
}
