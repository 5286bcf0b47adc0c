//! The changes that a batch of events makes to one read model, gathered in memory.

use super::{
    DatabaseError, PoisonEvent, ProjectionError, RowKey, Table,
    fold::{FoldFailure, ReadModelFold, RowChanges, RowPosition, TableRow},
};
use es_event::{EventId, RecordedEvent, Upcasters};
use es_subscribe::SkippedEvents;

/// The number of events that an upcaster may make of one event. Each of them may make a row.
const VIEWS: i64 = 1_024;

/// The changes that a batch of events makes to one read model.
///
/// Events are added without the table, so that the next batch is decoded while the current one is
/// written.
pub(super) struct BatchFold {
    fold: Box<dyn ReadModelFold>,
    poison: Option<FoldFailure>,
    count: usize,
}

impl BatchFold {
    pub(super) fn new(table: &Table) -> Self {
        Self {
            fold: (table.model.fold)(),
            poison: None,
            count: 0,
        }
    }

    /// Decodes and upcasts the next event and adds its changes. Events after one that cannot be decoded
    /// are only counted, as are those that an operator has skipped.
    pub(super) fn add_event(
        &mut self,
        skipped: &SkippedEvents,
        upcasters: &Upcasters,
        event: &RecordedEvent,
    ) {
        let index = self.count;
        self.count = self.count.saturating_add(1);
        if self.poison.is_some() || skipped.contains(event.id) {
            return;
        }
        let mut views = 0;
        if let Err(error) = decode(&mut *self.fold, upcasters, index, event, &mut views) {
            // Other views of the event may be in the fold already. Then the batch is folded again without it.
            let is_untouched = views <= 1;
            if !is_untouched || !skipped.excuse(&PoisonEvent::new(event, &error)) {
                self.poison = Some(FoldFailure { index, error });
            }
        }
    }

    /// Returns the keys of the stored rows that the changes depend on.
    pub(super) fn required_keys(&self) -> Vec<RowKey> {
        self.fold.required_keys()
    }

    /// Applies the changes to the stored rows that they depend on.
    ///
    /// Returns the changes of the table and the event that cannot be applied, if there is one. The
    /// changes are `None` if that event failed late: the events before it have to be folded again.
    pub(super) fn finish(
        mut self,
        table: &Table,
        required: Vec<TableRow>,
    ) -> Result<(Option<RowChanges>, Option<FoldFailure>), DatabaseError> {
        for row in required {
            // Another version of the code wrote a row that the read model cannot read. A rebuild helps, or an
            // operator skips the event that changes the row.
            self.fold
                .load_row(row)
                .map_err(|error| DatabaseError::Row {
                    table: table.model.name,
                    reason: error.to_string(),
                })?;
        }
        Ok(match self.fold.finish() {
            Ok(changes) => (Some(changes), self.poison),
            Err(earlier) => (None, Some(earlier)),
        })
    }
}

/// Adds each view of a stored event to a fold.
fn decode(
    fold: &mut dyn ReadModelFold,
    upcasters: &Upcasters,
    index: usize,
    event: &RecordedEvent,
    views: &mut RowPosition,
) -> Result<(), ProjectionError> {
    upcasters.read(event, |read| {
        let position = row_position(event.id, *views);
        *views = views.saturating_add(1);
        fold.add_event(index, position, &read)
    })
}

/// Returns the position of a row, which orders rows as their events are ordered.
fn row_position(id: EventId, view: RowPosition) -> RowPosition {
    let id = i64::try_from(id.get()).unwrap_or(i64::MAX);
    id.saturating_mul(VIEWS).saturating_add(view)
}
