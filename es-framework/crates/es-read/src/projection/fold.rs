//! A batch of events folded into rows in memory, so that each touched row is written once.

use std::{marker::PhantomData, ops::Range};

use indexmap::IndexMap;

use super::{
    Project, ProjectionError, RowChange, RowIdentity, RowKey,
    event_changes::key_in_subject,
    read_model::{Cells, EventRow, RowComputation, check_key},
    row_changes::{RowChanges, RowPosition, RowVersion, TableRow},
    row_holds::{LateFailure, RowHolds},
};
use es_event::{EventId, EventView};
use es_subscribe::catch_panic;

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

    /// Adds a stored row that the changes depend on.
    fn load_row(&mut self, row: TableRow) -> Result<(), ProjectionError>;

    /// Applies the changes in order.
    fn finish(self: Box<Self>) -> Result<RowChanges, Vec<FoldFailure>>;
}

/// Calls code of the application. A panic fails the event and nothing else.
pub(super) fn call_projection<T>(call: impl FnOnce() -> T) -> Result<T, ProjectionError> {
    catch_panic(call).map_err(ProjectionError::Panicked)
}

/// The fold of a read model whose rows have keys. It needs the stored rows that the events change. The changed rows are in the
/// order of their first events.
pub(super) struct KeyedRowFold<R>(IndexMap<RowKey, FoldedRow<R>>);

/// The change that an event makes to a row. It is applied after the stored rows are loaded.
struct PendingRowChange<R> {
    event: EventId,
    place: RowPosition,
    computation: RowComputation<R>,
}

/// A row to which the changes of a batch are applied.
struct FoldedRow<R> {
    row: Option<R>,
    /// `None` until there is a row.
    place: Option<RowPosition>,
    /// True if the changes depend on the stored row.
    is_required: bool,
    /// The changes of the row, in the order of their events.
    changes: Vec<PendingRowChange<R>>,
    /// The last event that removed a row.
    removed_by: Option<EventId>,
    /// The rows that the events left, the last of which is to be written if the row exists.
    versions: Vec<RowVersion>,
    /// The error of the first event, if the stored row cannot be read.
    unreadable: Option<ProjectionError>,
}

impl<R> Default for KeyedRowFold<R> {
    fn default() -> Self {
        Self(IndexMap::new())
    }
}

impl<R> KeyedRowFold<R> {
    fn add_change(&mut self, event: EventId, place: RowPosition, change: RowChange<R>) {
        let RowChange {
            key,
            computation,
            needs_row,
        } = change;
        let row = self.0.entry(key).or_insert_with(|| FoldedRow {
            row: None,
            place: None,
            is_required: needs_row,
            changes: Vec::new(),
            removed_by: None,
            versions: Vec::new(),
            unreadable: None,
        });
        row.changes.push(PendingRowChange {
            event,
            place,
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
        let changes = call_projection(|| R::changes(event))
            .flatten()
            .and_then(|changes| check_count(changes, &places))
            .unwrap_or_else(|error| {
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
        let required = self.0.iter().filter(|(_, row)| row.is_required);
        required.map(|(key, _)| key.clone()).collect()
    }

    /// Another version of the code may have written a row that the read model cannot read. A rebuild helps.
    fn load_row(&mut self, stored: TableRow) -> Result<(), ProjectionError> {
        let key = RowIdentity::of::<R>().find_key(R::COLUMNS, &stored.cells);
        let row = R::from_cells(Cells::new(stored.cells));
        let Some(folded) = key.and_then(|key| self.0.get_mut(&key)) else {
            return row.map(drop).map_err(ProjectionError::from);
        };
        match row {
            Ok(row) => {
                folded.row = Some(row);
                folded.place = Some(stored.place);
            }
            Err(error) => folded.unreadable = Some(ProjectionError::StoredRow(error)),
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<RowChanges, Vec<FoldFailure>> {
        let (mut changes, mut failures) = (RowChanges::default(), Vec::new());
        for (key, mut row) in self.0 {
            match row.apply_all(&key) {
                Err((event, error)) => failures.push(FoldFailure { event, key, error }),
                Ok(()) => {
                    let removed = row.removed_by.map(|event| (event, key));
                    changes.removed.extend(removed);
                    let last = row.row.and_then(|_| row.versions.pop());
                    changes.rows.extend(last);
                    changes.replaced.extend(row.versions);
                }
            }
        }
        if !failures.is_empty() {
            return Err(failures);
        }
        changes
            .rows
            .sort_unstable_by_key(|version| version.row.place);
        Ok(changes)
    }
}

impl<R: Project> FoldedRow<R> {
    /// Applies all changes. Fails with the event that the row cannot take.
    fn apply_all(&mut self, key: &RowKey) -> Result<(), (EventId, ProjectionError)> {
        for change in std::mem::take(&mut self.changes) {
            let event = change.event;
            if let Some(error) = self.unreadable.take() {
                return Err((event, error));
            }
            let applied = self.apply(key, change);
            applied.map_err(|error| (event, error))?;
        }
        Ok(())
    }

    /// Applies a change. A new row takes the position of its event.
    fn apply(&mut self, key: &RowKey, change: PendingRowChange<R>) -> Result<(), ProjectionError> {
        let PendingRowChange {
            event,
            place,
            computation,
        } = change;
        let was_there = self.row.is_some();
        let before = self.row.take();
        self.row = call_projection(|| computation(before))?;
        let Some(row) = &self.row else {
            if was_there {
                self.removed_by = Some(event);
            }
            self.place = None;
            return Ok(());
        };
        check_key(key, row)?;
        let row = TableRow {
            place: *self.place.get_or_insert(place),
            subject: None,
            cells: row.to_cells()?,
        };
        self.versions.push(RowVersion { event, row });
        Ok(())
    }
}

/// The fold of a read model whose rows are events. It adds one row for each event and depends on no
/// stored row. A held row holds all rows of its subject, so that the first row of a subject is never a later event.
pub(super) struct RowPerEventFold<E> {
    rows: Vec<RowVersion>,
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
                let row = TableRow {
                    place: places.start,
                    subject: Some(recorded.subject.as_str().to_owned()),
                    cells,
                };
                let event = recorded.id;
                self.rows.push(RowVersion { event, row });
            }
        }
        1
    }

    fn required_keys(&self) -> Vec<RowKey> {
        Vec::new()
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
