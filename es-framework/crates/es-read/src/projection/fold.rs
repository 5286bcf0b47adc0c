//! A batch of events folded into rows in memory, so that each touched row is written once.

use std::marker::PhantomData;

use indexmap::IndexMap;

use super::{
    Cell, Project, ProjectionError, RowChange, RowKey,
    read_model::{Cells, EventRow, RowComputation},
};
use es_event::EventView;
use es_subscribe::catch_panic;

/// The position of a row among all rows: the event that made it, and the number of that event among
/// those that an upcaster made of the stored one.
pub(crate) type RowPosition = i64;

/// The changes that a batch of events makes to one table.
#[derive(Debug, Default)]
pub(super) struct RowChanges {
    /// The rows to delete, including those that are written again at another position.
    pub(super) removed: Vec<RowKey>,
    /// The rows to write, in the order of their positions.
    pub(super) rows: Vec<TableRow>,
}

/// A row of a table: a stored one, or one to write.
#[derive(Debug, Clone)]
pub(crate) struct TableRow {
    pub(crate) place: RowPosition,
    /// The subject of the event, if the row is an event.
    pub(super) subject: Option<String>,
    pub(crate) cells: Vec<Cell>,
}

/// The failure of an event of a batch.
#[derive(Debug)]
pub(super) struct FoldFailure {
    /// The index of the event in the batch.
    pub(super) index: usize,
    pub(super) error: ProjectionError,
}

/// The fold of one batch for one read model. It keeps no position.
pub(super) trait ReadModelFold: Send {
    /// Adds the changes of an event, which has this index in the batch.
    fn add_event(
        &mut self,
        index: usize,
        place: RowPosition,
        event: &EventView<'_>,
    ) -> Result<(), ProjectionError>;

    /// Returns the keys of the stored rows that the changes depend on.
    fn required_keys(&self) -> Vec<RowKey>;

    /// Adds a stored row that the changes depend on.
    fn load_row(&mut self, row: TableRow) -> Result<(), ProjectionError>;

    /// Applies the changes in order.
    fn finish(self: Box<Self>) -> Result<RowChanges, FoldFailure>;
}

/// Calls code of the application. A panic fails the event and nothing else.
fn call_projection<T>(call: impl FnOnce() -> T) -> Result<T, ProjectionError> {
    catch_panic(call).map_err(ProjectionError::Panicked)
}

/// The fold of a read model whose rows have keys. It needs the stored rows that the events change.
pub(super) struct KeyedRowFold<R> {
    changes: Vec<PendingRowChange<R>>,
    /// The changed rows, in the order of their first events.
    slots: IndexMap<RowKey, FoldedRow<R>>,
}

/// The change that an event makes to a row. It is applied after the stored rows are loaded.
struct PendingRowChange<R> {
    /// The index of the event in the batch.
    index: usize,
    place: RowPosition,
    /// The index of the changed row among the slots.
    slot: usize,
    computation: RowComputation<R>,
}

/// A row to which the changes of a batch are applied.
struct FoldedRow<R> {
    row: Option<R>,
    /// `None` until there is a row.
    place: Option<RowPosition>,
    /// True if the changes depend on the stored row.
    is_required: bool,
    /// True if a stored row was removed.
    is_removed: bool,
    /// The index of the last event that changed the row.
    touched_by: usize,
}

impl<R> Default for KeyedRowFold<R> {
    fn default() -> Self {
        Self {
            changes: Vec::new(),
            slots: IndexMap::new(),
        }
    }
}

impl<R: Project> ReadModelFold for KeyedRowFold<R> {
    fn add_event(
        &mut self,
        index: usize,
        place: RowPosition,
        event: &EventView<'_>,
    ) -> Result<(), ProjectionError> {
        let Some(change) = call_projection(|| R::change(event))?? else {
            return Ok(());
        };
        let RowChange { key, computation } = change;
        let slot = self.slots.entry(key);
        let position = slot.index();
        slot.or_insert_with(|| FoldedRow {
            row: None,
            place: None,
            is_required: matches!(computation, RowComputation::Compute(_)),
            is_removed: false,
            touched_by: index,
        });
        self.changes.push(PendingRowChange {
            index,
            place,
            slot: position,
            computation,
        });
        Ok(())
    }

    fn required_keys(&self) -> Vec<RowKey> {
        let required = self.slots.iter().filter(|(_, slot)| slot.is_required);
        required.map(|(key, _)| key.clone()).collect()
    }

    fn load_row(&mut self, stored: TableRow) -> Result<(), ProjectionError> {
        let row = R::from_cells(Cells::new(stored.cells))?;
        if let Some(slot) = self.slots.get_mut(&RowKey::from_value(row.key())?) {
            slot.row = Some(row);
            slot.place = Some(stored.place);
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<RowChanges, FoldFailure> {
        let Self {
            changes, mut slots, ..
        } = *self;
        for PendingRowChange {
            index,
            place,
            slot,
            computation,
        } in changes
        {
            let Some((key, slot)) = slots.get_index_mut(slot) else {
                continue;
            };
            slot.touched_by = index;
            slot.apply(key, place, computation)
                .map_err(|error| FoldFailure { index, error })?;
        }
        let mut changes = RowChanges::default();
        for (key, slot) in slots {
            if slot.is_removed {
                changes.removed.push(key);
            }
            if let (Some(row), Some(place)) = (slot.row, slot.place) {
                let cells = row.to_cells().map_err(|error| FoldFailure {
                    index: slot.touched_by,
                    error: error.into(),
                })?;
                changes.rows.push(TableRow {
                    place,
                    subject: None,
                    cells,
                });
            }
        }
        changes.rows.sort_unstable_by_key(|row| row.place);
        Ok(changes)
    }
}

impl<R: Project> FoldedRow<R> {
    /// Applies a change of the event at this position.
    fn apply(
        &mut self,
        key: &RowKey,
        place: RowPosition,
        computation: RowComputation<R>,
    ) -> Result<(), ProjectionError> {
        let was_there = self.row.is_some();
        self.row = match computation {
            // `RowChange::put` has checked the key.
            RowComputation::Put(row) => Some(row),
            RowComputation::Compute(compute) => {
                let before = self.row.take();
                let row = call_projection(|| compute(before))?;
                if let Some(row) = &row {
                    check_key(key, row)?;
                }
                row
            }
        };
        match &self.row {
            None => {
                self.is_removed |= was_there;
                self.place = None;
            }
            Some(_) => self.place = self.place.or(Some(place)),
        }
        Ok(())
    }
}

/// Checks that a row which the application changed still has its key.
fn check_key<R: Project>(key: &RowKey, row: &R) -> Result<(), ProjectionError> {
    let own = RowKey::from_value(row.key())?;
    if own == *key {
        return Ok(());
    }
    Err(ProjectionError::OtherKey {
        row: own,
        event: key.clone(),
    })
}

/// The fold of a read model whose rows are events. It adds one row for each event and depends on no
/// stored row.
pub(super) struct RowPerEventFold<E> {
    rows: Vec<TableRow>,
    event: PhantomData<fn() -> E>,
}

impl<E> Default for RowPerEventFold<E> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            event: PhantomData,
        }
    }
}

impl<E: EventRow> ReadModelFold for RowPerEventFold<E> {
    fn add_event(
        &mut self,
        _: usize,
        place: RowPosition,
        event: &EventView<'_>,
    ) -> Result<(), ProjectionError> {
        if event.is::<E>() {
            let row: E = event.payload()?;
            self.rows.push(TableRow {
                place,
                subject: Some(event.recorded().subject.as_str().to_owned()),
                cells: row.to_cells()?,
            });
        }
        Ok(())
    }

    fn required_keys(&self) -> Vec<RowKey> {
        Vec::new()
    }

    fn load_row(&mut self, _: TableRow) -> Result<(), ProjectionError> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<RowChanges, FoldFailure> {
        Ok(RowChanges {
            removed: Vec::new(),
            rows: self.rows,
        })
    }
}
