//! A batch of events folded into rows in memory, so that each touched row is written once.

use std::ops::Range;

use indexmap::IndexMap;

use super::{
    Cell, KeyError, ProjectionError, RowKey, Table,
    read_model::{CellComputation, KeyedChange, call_projection},
    row_changes::{RowChanges, RowPosition, RowVersion, TableRow},
    row_functions::RowFunctions,
    row_holds::{LateFailure, RowHolds},
};
use es_event::{EventId, EventView, RecordedEvent};

/// The rows that a batch of events changes in one read model.
pub(super) struct FoldedRows {
    source: RowFunctions,
    /// The changed rows with keys, in the order of their first events.
    keyed: IndexMap<RowKey, FoldedRow>,
    /// The rows that are events. They depend on no stored row.
    events: Vec<RowVersion>,
}

/// The change that an event makes to a row. It is applied after the stored rows are loaded.
struct PendingRowChange {
    event: EventId,
    place: RowPosition,
    computation: CellComputation,
    needs_row: bool,
}

/// A row to which the changes of a batch are applied.
#[derive(Default)]
struct FoldedRow {
    /// The cells of the stored row, until a change gets them.
    stored: Option<Vec<Cell>>,
    /// The place of the row. `None` while there is none.
    place: Option<RowPosition>,
    /// True if the changes depend on the stored row.
    is_required: bool,
    /// The changes of the row, in the order of their events.
    changes: Vec<PendingRowChange>,
    /// The last event that removed a row.
    removed_by: Option<EventId>,
    /// The rows that the events left, the last of which is to be written if the row exists.
    versions: Vec<RowVersion>,
}

/// Refuses more changes than there are positions for new rows.
fn check_count(
    changes: Vec<KeyedChange>,
    places: &Range<RowPosition>,
) -> Result<Vec<KeyedChange>, ProjectionError> {
    let rows = changes.len();
    let most = places.end.saturating_sub(places.start);
    if i64::try_from(rows).is_ok_and(|rows| rows <= most) {
        Ok(changes)
    } else {
        Err(ProjectionError::TooManyRows { rows, most })
    }
}

impl FoldedRows {
    pub(super) fn new(source: RowFunctions) -> Self {
        Self {
            source,
            keyed: IndexMap::new(),
            events: Vec::new(),
        }
    }

    /// Adds the changes of an event to the rows that take it, and holds a row that cannot take it. New rows take their
    /// positions from `places`. Returns the number of positions that the event took.
    pub(super) fn add_event(
        &mut self,
        places: Range<RowPosition>,
        event: &EventView<'_>,
        holds: &mut RowHolds,
    ) -> usize {
        let recorded = event.recorded();
        match self.source {
            RowFunctions::Keyed {
                changes,
                key_in_subject,
            } => {
                let changed = call_projection(|| changes(event))
                    .flatten()
                    .and_then(|changed| check_count(changed, &places))
                    .unwrap_or_else(|error| {
                        holds.hold(key_in_subject(event).as_ref(), recorded, error);
                        Vec::new()
                    });
                let count = changed.len();
                for (place, change) in places.zip(changed) {
                    if holds.admit_to_row(&change.key, recorded) {
                        self.add_change(recorded.id, place, change);
                    }
                }
                count
            }
            RowFunctions::Event(cells) => {
                let Some(decoded) = cells(event) else {
                    return 0;
                };
                self.add_row(places.start, recorded, decoded, holds)
            }
        }
    }

    fn add_change(&mut self, event: EventId, place: RowPosition, change: KeyedChange) {
        let KeyedChange {
            key,
            computation,
            needs_row,
        } = change;
        let row = self.keyed.entry(key).or_insert_with(|| FoldedRow {
            is_required: needs_row,
            ..FoldedRow::default()
        });
        row.changes.push(PendingRowChange {
            event,
            place,
            computation,
            needs_row,
        });
    }

    /// Adds a row that is an event. A held row holds all rows of its subject, so that the first row of a subject is never
    /// a later event.
    fn add_row(
        &mut self,
        place: RowPosition,
        event: &RecordedEvent,
        decoded: Result<Vec<Cell>, ProjectionError>,
        holds: &mut RowHolds,
    ) -> usize {
        if !holds.admit_to_subject(event) {
            return 0;
        }
        match decoded {
            Err(error) => holds.hold(None, event, error),
            Ok(cells) => {
                let row = TableRow {
                    place,
                    subject: Some(event.subject.as_str().to_owned()),
                    cells,
                };
                let event = event.id;
                self.events.push(RowVersion { event, row });
            }
        }
        1
    }

    /// Returns the keys of the stored rows that the changes depend on.
    pub(super) fn required_keys(&self) -> Vec<RowKey> {
        let required = self.keyed.iter().filter(|(_, row)| row.is_required);
        required.map(|(key, _)| key.clone()).collect()
    }

    /// Adds a stored row that the changes depend on.
    pub(super) fn load_row(&mut self, table: &Table, stored: TableRow) -> Result<(), KeyError> {
        let model = table.model;
        let key = model.identity.find_key(model.columns, &stored.cells);
        let selected = key.and_then(|key| self.keyed.get_mut(&key));
        let folded = selected.ok_or(KeyError::Unfit)?;
        folded.place = Some(stored.place);
        folded.stored = Some(stored.cells);
        Ok(())
    }

    /// Applies the changes in order. Returns the rows that cannot take an event, if there are some.
    pub(super) fn finish(self) -> Result<RowChanges, Vec<LateFailure>> {
        let mut failures = Vec::new();
        let mut changes = RowChanges {
            rows: self.events,
            ..RowChanges::default()
        };
        for (key, mut row) in self.keyed {
            match row.apply_all(&key) {
                Err((event, error)) => failures.push(LateFailure {
                    event,
                    row: key.held_id(),
                    reason: error.to_string(),
                }),
                Ok(()) => {
                    let removed = row.removed_by.map(|event| (event, key));
                    changes.removed.extend(removed);
                    let last = row.place.and_then(|_| row.versions.pop());
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

impl FoldedRow {
    /// Applies all changes. Fails with the event that the row cannot take.
    fn apply_all(&mut self, key: &RowKey) -> Result<(), (EventId, ProjectionError)> {
        for pending in std::mem::take(&mut self.changes) {
            let event = pending.event;
            let applied = self.apply(key, pending);
            applied.map_err(|error| (event, error))?;
        }
        Ok(())
    }

    /// Applies a change. A new row takes the position of its event.
    fn apply(&mut self, key: &RowKey, pending: PendingRowChange) -> Result<(), ProjectionError> {
        let PendingRowChange {
            event,
            place: new_place,
            computation,
            needs_row,
        } = pending;
        let before = needs_row.then(|| self.take_cells()).flatten();
        let Some(cells) = computation(key, before)? else {
            if self.place.take().is_some() {
                self.removed_by = Some(event);
            }
            return Ok(());
        };
        let row = TableRow {
            place: *self.place.get_or_insert(new_place),
            subject: None,
            cells,
        };
        self.versions.push(RowVersion { event, row });
        Ok(())
    }

    /// Returns the cells of the row before the next change, if there is one. A version that an event left is still to be
    /// written or tried.
    fn take_cells(&mut self) -> Option<Vec<Cell>> {
        self.place?;
        let version = self.versions.last();
        let left = version.map(|version| version.row.cells.clone());
        left.or_else(|| self.stored.take())
    }
}
