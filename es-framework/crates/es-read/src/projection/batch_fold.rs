//! The changes that a batch of events makes to one read model, gathered in memory.

use std::ops::Range;

use super::{
    DatabaseError, PoisonEvent, ProjectionError, RowKey, Table,
    fold::FoldedRows,
    read_model::call_projection,
    row_changes::{RowChanges, RowPosition, TableRow},
    row_holds::{LateFailure, RowHolds},
};
use es_event::{EventId, RecordedEvent, Upcasters};
use es_subscribe::HeldKeys;

/// The number of positions for the new rows of one event, and of the events that upcasters make of it. Each event takes
/// at least one.
const POSITIONS: i64 = 1_024;

/// The changes that a batch of events makes to one read model.
///
/// Events are added without the table, so that the next batch is decoded while the current one is
/// written.
pub(super) struct BatchFold {
    fold: FoldedRows,
    holds: RowHolds,
}

/// The changes of a batch, or the reason to fold it again.
pub(super) enum FoldedChanges {
    Complete(RowChanges),
    /// Some rows cannot take an event, which showed late.
    Incomplete(Vec<LateFailure>),
}

impl BatchFold {
    pub(super) fn new(table: &Table, holds: RowHolds) -> Self {
        Self {
            fold: FoldedRows::new(table.model.source),
            holds,
        }
    }

    /// Decodes and upcasts the next event and adds its changes. A row that cannot take the event is held.
    pub(super) fn add_event(&mut self, upcasters: &Upcasters, event: &RecordedEvent) {
        let Self { fold, holds } = self;
        if holds.is_passed_over(event.id) {
            return;
        }
        let mut places = row_positions(event.id);
        let read = call_projection(|| {
            upcasters.read(event, |view| {
                let rows = fold.add_event(places.clone(), &view, holds);
                let taken = i64::try_from(rows.max(1)).unwrap_or(POSITIONS);
                places.start = places.start.saturating_add(taken);
                Ok::<_, ProjectionError>(())
            })
        });
        if let Err(error) = read.flatten() {
            holds.hold(None, event, error);
        }
    }

    /// Returns the event at which one more row would be held than the limit allows.
    pub(super) const fn excess(&self) -> Option<&PoisonEvent> {
        self.holds.excess()
    }

    /// Returns true if the same rows were held when the events were added.
    pub(super) fn is_based_on(&self, held: &HeldKeys) -> bool {
        self.holds.is_based_on(held)
    }

    /// Returns the keys of the stored rows that the changes depend on.
    pub(super) fn required_keys(&self) -> Vec<RowKey> {
        self.fold.required_keys()
    }

    /// Applies the changes to the stored rows that they depend on.
    pub(super) fn finish(
        mut self,
        table: &Table,
        required: Vec<TableRow>,
    ) -> Result<FoldedChanges, DatabaseError> {
        for row in required {
            self.fold
                .load_row(table, row)
                .map_err(|error| DatabaseError::Row {
                    table: table.model.name,
                    reason: error.to_string(),
                })?;
        }
        if self.holds.has_new_skip() {
            return Ok(FoldedChanges::Incomplete(Vec::new()));
        }
        Ok(match self.fold.finish() {
            Ok(changes) => FoldedChanges::Complete(RowChanges {
                held: self.holds.into_changed(),
                ..changes
            }),
            Err(failures) => FoldedChanges::Incomplete(failures),
        })
    }
}

/// Returns the positions of the rows of an event, which order rows as their events are ordered.
fn row_positions(id: EventId) -> Range<RowPosition> {
    let id = i64::try_from(id.get()).unwrap_or(i64::MAX);
    let first = id.saturating_mul(POSITIONS);
    first..first.saturating_add(POSITIONS)
}
