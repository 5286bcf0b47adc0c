//! How far a table has come: the last event whose effects it holds.

use super::super::{Table, tables};
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

    /// As a database keeps it.
    pub(super) fn of_columns(position: Option<i64>, hash: Option<String>) -> Option<Self> {
        let id = position.and_then(|position| u64::try_from(position).ok());
        let hash = hash.and_then(|hash| hash.parse().ok());
        let (id, hash) = id.and_then(EventId::new).zip(hash)?;
        Some(Self { id, hash })
    }
}

/// A table that is there: how it was declared, and how far it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::projection) struct Kept {
    pub(super) definition: String,
    pub(in crate::projection) checkpoint: Option<Checkpoint>,
}

impl Kept {
    /// Whether it was declared as the read model is now.
    pub(in crate::projection) fn is_of(&self, table: &Table) -> bool {
        self.definition == tables::definition(table)
    }

    /// Whether queries of the read model can be answered from it.
    pub(in crate::projection) fn answers_for(&self, table: &Table) -> bool {
        let layout = self.definition.split('.').next();
        layout == Some(tables::layout(table).as_str())
    }
}
