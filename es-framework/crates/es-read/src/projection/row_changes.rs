//! The changes that a batch of events makes to the rows of a table.

use super::{Cell, ColumnDescriptor, RowIdentity, RowKey};
use es_event::EventId;
use es_subscribe::{HeldKey, HeldKeyId, HeldKeyKind};

/// The position of a row among all rows: the event that made it, and the number of that event among
/// those that an upcaster made of the stored one.
pub(crate) type RowPosition = i64;

/// The changes that a batch of events makes to one table.
#[derive(Debug, Clone, Default)]
pub(super) struct RowChanges {
    /// The rows to delete, including those that are written again at another position. Each has the event that removes
    /// it.
    pub(super) removed: Vec<(EventId, RowKey)>,
    /// The rows to write, in the order of their positions.
    pub(super) rows: Vec<RowVersion>,
    /// The rows that later events of the batch replace. They are tried and undone, because a row that the database
    /// refuses waits at its event whatever events share its batch.
    pub(super) replaced: Vec<RowVersion>,
    /// The keys that are held from now on, or whose number of events has grown.
    pub(super) held: Vec<HeldKey>,
    /// The keys that are held no longer.
    pub(super) released: Vec<HeldKeyId>,
}

/// A row as an event leaves it.
#[derive(Debug, Clone)]
pub(super) struct RowVersion {
    pub(super) event: EventId,
    pub(super) row: TableRow,
}

/// One removal or one written row of a batch, and the event that it follows from.
pub(super) struct SingleRowChange {
    pub(super) event: EventId,
    pub(super) id: HeldKeyId,
    pub(super) change: RowChanges,
}

impl RowChanges {
    /// Returns the removals and the versions of all rows of a read model one by one, in the order of their events.
    pub(super) fn into_single_changes(
        self,
        identity: RowIdentity,
        columns: &[ColumnDescriptor],
    ) -> Vec<SingleRowChange> {
        let removed = self
            .removed
            .into_iter()
            .map(|(event, key)| SingleRowChange {
                event,
                id: key.held_id(),
                change: Self {
                    removed: vec![(event, key)],
                    ..Self::default()
                },
            });
        let versions = self.replaced.into_iter().chain(self.rows);
        let written = versions.map(|version| SingleRowChange {
            event: version.event,
            id: version.row.held_id(identity, columns),
            change: Self {
                rows: vec![version],
                ..Self::default()
            },
        });
        let mut changes: Vec<_> = removed.chain(written).collect();
        changes.sort_by_key(|change| change.event);
        changes
    }
}

/// A row of a table: a stored one, or one to write.
#[derive(Debug, Clone)]
pub(crate) struct TableRow {
    pub(crate) place: RowPosition,
    /// The subject of the event, if the row is an event.
    pub(super) subject: Option<String>,
    pub(crate) cells: Vec<Cell>,
}

impl TableRow {
    /// Returns the row that a statement selects: its position and its columns.
    pub(super) fn from_cells(cells: Vec<Cell>) -> Self {
        let place = cells.first().and_then(Cell::as_integer);
        Self {
            place: place.unwrap_or_default(),
            subject: None,
            cells: cells.into_iter().skip(1).collect(),
        }
    }

    /// Returns the identity under which the row is held.
    fn held_id(&self, identity: RowIdentity, columns: &[ColumnDescriptor]) -> HeldKeyId {
        let key = identity.find_key(columns, &self.cells);
        let subject = self.subject.as_deref().unwrap_or_default();
        key.map_or_else(
            || HeldKeyId::new(HeldKeyKind::Subject, subject),
            |key| key.held_id(),
        )
    }
}
