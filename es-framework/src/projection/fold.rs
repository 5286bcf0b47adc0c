//! A batch of events folded into rows in memory, so that each touched row is written once.

use std::{
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind},
};

use indexmap::IndexMap;

use super::{
    Cell, Change, Project, ProjectionError, RowKey,
    read_model::{Cells, EventRow, Kind},
};
use crate::event::EventView;

/// Where a row stands among all rows: the event that made it, and which of the several that an
/// upcaster may have made of that event.
pub(crate) type Place = i64;

/// What a batch of events changes in one table.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The rows that are gone, or that begin anew at another place.
    pub(super) removed: Vec<RowKey>,
    /// The rows that are there, in the order of their places.
    pub(super) rows: Vec<StoredRow>,
}

/// A row as its table holds it.
#[derive(Debug, Clone)]
pub(crate) struct StoredRow {
    pub(crate) place: Place,
    /// The subject of the event, where the row is an event.
    pub(super) subject: Option<String>,
    pub(crate) cells: Vec<Cell>,
}

/// An event of the batch that cannot be taken.
#[derive(Debug)]
pub(super) struct Poison {
    /// Which one of the batch.
    pub(super) index: usize,
    pub(super) error: ProjectionError,
}

/// The fold of one read model over one batch.
pub(super) trait Fold: Send {
    /// Notes what an event changes. `index` says which one of the batch it is.
    fn take(
        &mut self,
        index: usize,
        place: Place,
        event: &EventView<'_>,
    ) -> Result<(), ProjectionError>;

    /// The keys of the rows that are needed.
    fn wanted(&self) -> Vec<RowKey>;

    /// Takes a row that was needed.
    fn load(&mut self, row: StoredRow) -> Result<(), ProjectionError>;

    /// Applies what was noted, in order.
    fn finish(self: Box<Self>) -> Result<Changes, Poison>;
}

/// Calls the application's code: what it does wrong is its read model's trouble alone.
fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, ProjectionError> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned());
        ProjectionError::Panicked(text.unwrap_or_else(|| "without a message".to_owned()))
    })
}

/// The fold of a read model whose rows have keys.
pub(super) struct RowFold<R> {
    changes: Vec<Noted<R>>,
    /// The rows that were met, in the order of their first events.
    slots: IndexMap<RowKey, Slot<R>>,
}

struct Noted<R> {
    index: usize,
    place: Place,
    /// Which row it changes.
    slot: usize,
    kind: Kind<R>,
}

/// A row while it is folded.
struct Slot<R> {
    row: Option<R>,
    /// `None` until there is a row.
    place: Option<Place>,
    /// Whether the fold depends on what the table holds.
    is_wanted: bool,
    /// Whether a row that was there was removed.
    is_removed: bool,
    /// The last event of the batch that was about it.
    touched_by: usize,
}

impl<R> Default for RowFold<R> {
    fn default() -> Self {
        Self {
            changes: Vec::new(),
            slots: IndexMap::new(),
        }
    }
}

impl<R: Project> Fold for RowFold<R> {
    fn take(
        &mut self,
        index: usize,
        place: Place,
        event: &EventView<'_>,
    ) -> Result<(), ProjectionError> {
        let Some(change) = guarded(|| R::change(event))?? else {
            return Ok(());
        };
        let Change { key, kind } = change;
        let slot = self.slots.entry(key);
        let position = slot.index();
        slot.or_insert_with(|| Slot {
            row: None,
            place: None,
            is_wanted: matches!(kind, Kind::Follow(_)),
            is_removed: false,
            touched_by: index,
        });
        self.changes.push(Noted {
            index,
            place,
            slot: position,
            kind,
        });
        Ok(())
    }

    fn wanted(&self) -> Vec<RowKey> {
        let wanted = self.slots.iter().filter(|(_, slot)| slot.is_wanted);
        wanted.map(|(key, _)| key.clone()).collect()
    }

    fn load(&mut self, stored: StoredRow) -> Result<(), ProjectionError> {
        let row = R::from_cells(Cells::new(stored.cells))?;
        if let Some(slot) = self.slots.get_mut(&RowKey::of(row.key())?) {
            slot.row = Some(row);
            slot.place = Some(stored.place);
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Changes, Poison> {
        let Self {
            changes, mut slots, ..
        } = *self;
        for Noted {
            index,
            place,
            slot,
            kind,
        } in changes
        {
            let Some((key, slot)) = slots.get_index_mut(slot) else {
                continue;
            };
            slot.touched_by = index;
            slot.apply(key, place, kind)
                .map_err(|error| Poison { index, error })?;
        }
        let mut changes = Changes::default();
        for (key, slot) in slots {
            if slot.is_removed {
                changes.removed.push(key);
            }
            if let (Some(row), Some(place)) = (slot.row, slot.place) {
                let cells = row.to_cells().map_err(|error| Poison {
                    index: slot.touched_by,
                    error: error.into(),
                })?;
                changes.rows.push(StoredRow {
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

impl<R: Project> Slot<R> {
    fn apply(&mut self, key: &RowKey, place: Place, kind: Kind<R>) -> Result<(), ProjectionError> {
        let was_there = self.row.is_some();
        self.row = match kind {
            // Its key was looked at when the change was made.
            Kind::Put(row) => Some(row),
            Kind::Follow(follow) => {
                let before = self.row.take();
                let row = guarded(|| follow(before))?;
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

fn check_key<R: Project>(key: &RowKey, row: &R) -> Result<(), ProjectionError> {
    let own = RowKey::of(row.key())?;
    if own == *key {
        return Ok(());
    }
    Err(ProjectionError::OtherKey {
        row: own,
        event: key.clone(),
    })
}

/// The fold of a read model whose rows are events.
pub(super) struct EventRows<E> {
    rows: Vec<StoredRow>,
    event: PhantomData<fn() -> E>,
}

impl<E> Default for EventRows<E> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            event: PhantomData,
        }
    }
}

impl<E: EventRow> Fold for EventRows<E> {
    fn take(
        &mut self,
        _: usize,
        place: Place,
        event: &EventView<'_>,
    ) -> Result<(), ProjectionError> {
        if event.is::<E>() {
            let row: E = event.payload()?;
            self.rows.push(StoredRow {
                place,
                subject: Some(event.recorded().subject.as_str().to_owned()),
                cells: row.to_cells()?,
            });
        }
        Ok(())
    }

    fn wanted(&self) -> Vec<RowKey> {
        Vec::new()
    }

    fn load(&mut self, _: StoredRow) -> Result<(), ProjectionError> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Changes, Poison> {
        Ok(Changes {
            removed: Vec::new(),
            rows: self.rows,
        })
    }
}
