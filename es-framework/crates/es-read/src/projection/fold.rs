//! A batch of events folded into rows in memory, so that each touched row is written once.

use std::{marker::PhantomData, ops::Range};

use indexmap::IndexMap;

use super::{
    Cell, Project, ProjectionError, RowChange, RowIdentity, RowKey,
    event_changes::key_in_subject,
    read_model::{Cells, EventRow, RowComputation, check_key},
    row_holds::{LateFailure, RowHolds, subject_id},
};
use es_event::{EventId, EventView};
use es_subscribe::{HeldKey, HeldKeyId, catch_panic};

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
    /// The keys that are held from now on, or whose number of events has grown.
    pub(super) held: Vec<HeldKey>,
    /// The keys that are held no longer.
    pub(super) released: Vec<HeldKeyId>,
}

/// A row of a table: a stored one, or one to write.
#[derive(Debug, Clone)]
pub(crate) struct TableRow {
    pub(crate) place: RowPosition,
    /// The subject of the event, if the row is an event.
    pub(super) subject: Option<String>,
    pub(crate) cells: Vec<Cell>,
}

/// The failure of a row at an event of a batch.
#[derive(Debug)]
pub(super) struct FoldFailure {
    event: EventId,
    key: RowKey,
    error: ProjectionError,
}

impl FoldFailure {
    pub(super) fn into_late(self) -> LateFailure {
        LateFailure {
            event: self.event,
            row: self.key.held_id(),
            reason: self.error.to_string(),
        }
    }
}

/// The fold of one batch for one read model. It keeps no position.
pub(super) trait ReadModelFold: Send {
    /// Adds the changes of an event to the rows that take it, and holds a row that cannot take it. New rows take their
    /// positions from `places`. Returns the number of positions that the event took.
    fn add_event(
        &mut self,
        places: Range<RowPosition>,
        event: &EventView<'_>,
        holds: &mut RowHolds,
    ) -> usize;

    /// Returns the keys of the stored rows that the changes depend on.
    fn required_keys(&self) -> Vec<RowKey>;

    /// Returns the identities of the rows that the changes touch, each with its first event.
    fn touched_rows(&self) -> Vec<(EventId, HeldKeyId)>;

    /// Adds a stored row that the changes depend on.
    fn load_row(&mut self, row: TableRow) -> Result<(), ProjectionError>;

    /// Applies the changes in order.
    fn finish(self: Box<Self>) -> Result<RowChanges, Vec<FoldFailure>>;
}

/// Calls code of the application. A panic fails the event and nothing else.
pub(super) fn call_projection<T>(call: impl FnOnce() -> T) -> Result<T, ProjectionError> {
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
    event: EventId,
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
    /// The last event that changed the row, or the first one until changes are applied.
    touched_by: EventId,
    failure: Option<(EventId, ProjectionError)>,
}

impl<R> Default for KeyedRowFold<R> {
    fn default() -> Self {
        Self {
            changes: Vec::new(),
            slots: IndexMap::new(),
        }
    }
}

impl<R> KeyedRowFold<R> {
    fn add_change(&mut self, event: EventId, place: RowPosition, change: RowChange<R>) {
        let RowChange {
            key,
            computation,
            needs_row,
        } = change;
        let slot = self.slots.entry(key);
        let position = slot.index();
        slot.or_insert_with(|| FoldedRow {
            row: None,
            place: None,
            is_required: needs_row,
            is_removed: false,
            touched_by: event,
            failure: None,
        });
        self.changes.push(PendingRowChange {
            event,
            place,
            slot: position,
            computation,
        });
    }
}

/// Refuses more changes than there are positions for new rows.
fn check_count<R>(
    changes: Vec<RowChange<R>>,
    places: &Range<RowPosition>,
) -> Result<Vec<RowChange<R>>, ProjectionError> {
    let rows = changes.len();
    let most = places.end.saturating_sub(places.start);
    if i64::try_from(rows).is_ok_and(|rows| rows <= most) {
        Ok(changes)
    } else {
        Err(ProjectionError::TooManyRows { rows, most })
    }
}

impl<R: Project> ReadModelFold for KeyedRowFold<R> {
    fn add_event(
        &mut self,
        places: Range<RowPosition>,
        event: &EventView<'_>,
        holds: &mut RowHolds,
    ) -> usize {
        let recorded = event.recorded();
        let changes = call_projection(|| R::changes(event)).and_then(|changes| changes);
        let changes = changes.and_then(|changes| check_count(changes, &places));
        let changes = changes.unwrap_or_else(|error| {
            holds.hold(key_in_subject::<R>(event).as_ref(), recorded, error);
            Vec::new()
        });
        let count = changes.len();
        for (place, change) in places.zip(changes) {
            if holds.admit_to_row(&change.key, recorded) {
                self.add_change(recorded.id, place, change);
            }
        }
        count
    }

    fn required_keys(&self) -> Vec<RowKey> {
        let required = self.slots.iter().filter(|(_, slot)| slot.is_required);
        required.map(|(key, _)| key.clone()).collect()
    }

    fn touched_rows(&self) -> Vec<(EventId, HeldKeyId)> {
        let rows = self.slots.iter();
        rows.map(|(key, slot)| (slot.touched_by, key.held_id()))
            .collect()
    }

    /// Another version of the code may have written a row that the read model cannot read. A rebuild helps.
    fn load_row(&mut self, stored: TableRow) -> Result<(), ProjectionError> {
        let key = RowIdentity::of::<R>().find_key(R::COLUMNS, &stored.cells);
        let row = R::from_cells(Cells::new(stored.cells));
        let Some(slot) = key.and_then(|key| self.slots.get_mut(&key)) else {
            return row.map(drop).map_err(ProjectionError::from);
        };
        match row {
            Ok(row) => {
                slot.row = Some(row);
                slot.place = Some(stored.place);
            }
            Err(error) => slot.failure = Some((slot.touched_by, ProjectionError::StoredRow(error))),
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<RowChanges, Vec<FoldFailure>> {
        let Self {
            changes, mut slots, ..
        } = *self;
        for PendingRowChange {
            event,
            place,
            slot,
            computation,
        } in changes
        {
            if let Some((key, slot)) = slots.get_index_mut(slot)
                && slot.failure.is_none()
            {
                slot.touched_by = event;
                let applied = slot.apply(key, place, computation);
                slot.failure = applied.err().map(|error| (event, error));
            }
        }
        let (mut changes, mut failures) = (RowChanges::default(), Vec::new());
        for (key, slot) in slots {
            match slot.into_change() {
                Err((event, error)) => failures.push(FoldFailure { event, key, error }),
                Ok((is_removed, row)) => {
                    if is_removed {
                        changes.removed.push(key);
                    }
                    changes.rows.extend(row);
                }
            }
        }
        if !failures.is_empty() {
            return Err(failures);
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
        let before = self.row.take();
        self.row = call_projection(|| computation(before))?;
        match &self.row {
            None => {
                self.is_removed |= was_there;
                self.place = None;
            }
            Some(row) => {
                check_key(key, row)?;
                self.place = self.place.or(Some(place));
            }
        }
        Ok(())
    }

    /// Returns whether the stored row is removed, and the row to write.
    fn into_change(self) -> Result<(bool, Option<TableRow>), (EventId, ProjectionError)> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let (Some(row), Some(place)) = (self.row, self.place) else {
            return Ok((self.is_removed, None));
        };
        let cells = row.to_cells();
        let cells = cells.map_err(|error| (self.touched_by, error.into()))?;
        let row = TableRow {
            place,
            subject: None,
            cells,
        };
        Ok((self.is_removed, Some(row)))
    }
}

/// The fold of a read model whose rows are events. It adds one row for each event and depends on no
/// stored row. A held row holds all rows of its subject, so that the first row of a subject is never a later event.
pub(super) struct RowPerEventFold<E> {
    rows: Vec<TableRow>,
    touched: Vec<(EventId, HeldKeyId)>,
    event: PhantomData<fn() -> E>,
}

impl<E> Default for RowPerEventFold<E> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            touched: Vec::new(),
            event: PhantomData,
        }
    }
}

impl<E: EventRow> ReadModelFold for RowPerEventFold<E> {
    fn add_event(
        &mut self,
        places: Range<RowPosition>,
        event: &EventView<'_>,
        holds: &mut RowHolds,
    ) -> usize {
        let recorded = event.recorded();
        if !event.is::<E>() || !holds.admit_to_subject(recorded) {
            return 0;
        }
        let cells = event.payload().map_err(ProjectionError::from);
        match cells.and_then(|row: E| Ok(row.to_cells()?)) {
            Err(error) => holds.hold(None, recorded, error),
            Ok(cells) => {
                self.touched
                    .push((recorded.id, subject_id(&recorded.subject)));
                self.rows.push(TableRow {
                    place: places.start,
                    subject: Some(recorded.subject.as_str().to_owned()),
                    cells,
                });
            }
        }
        1
    }

    fn required_keys(&self) -> Vec<RowKey> {
        Vec::new()
    }

    fn touched_rows(&self) -> Vec<(EventId, HeldKeyId)> {
        self.touched.clone()
    }

    fn load_row(&mut self, _: TableRow) -> Result<(), ProjectionError> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<RowChanges, Vec<FoldFailure>> {
        let rows = self.rows;
        Ok(RowChanges {
            rows,
            ..RowChanges::default()
        })
    }
}
