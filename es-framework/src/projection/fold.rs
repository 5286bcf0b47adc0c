//! A batch of events folded into rows in memory, so that each touched row is written once.

use std::{
    collections::{HashMap, hash_map::Entry},
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind},
};

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
    slots: Vec<Slot<R>>,
    /// Where the row of each key is among them.
    by_key: HashMap<RowKey, usize>,
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
    key: RowKey,
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
            slots: Vec::new(),
            by_key: HashMap::new(),
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
        let slot = match self.by_key.entry(key) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(unknown) => {
                let slot = self.slots.len();
                self.slots.push(Slot {
                    key: unknown.key().clone(),
                    row: None,
                    place: None,
                    is_wanted: matches!(kind, Kind::Follow(_)),
                    is_removed: false,
                    touched_by: index,
                });
                *unknown.insert(slot)
            }
        };
        self.changes.push(Noted {
            index,
            place,
            slot,
            kind,
        });
        Ok(())
    }

    fn wanted(&self) -> Vec<RowKey> {
        let wanted = self.slots.iter().filter(|slot| slot.is_wanted);
        wanted.map(|slot| slot.key.clone()).collect()
    }

    fn load(&mut self, stored: StoredRow) -> Result<(), ProjectionError> {
        let row = R::from_cells(Cells::new(stored.cells))?;
        let slot = self.by_key.get(&RowKey::of(row.key())?);
        if let Some(slot) = slot.and_then(|slot| self.slots.get_mut(*slot)) {
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
            let Some(slot) = slots.get_mut(slot) else {
                continue;
            };
            slot.touched_by = index;
            slot.apply(place, kind)
                .map_err(|error| Poison { index, error })?;
        }
        let mut changes = Changes::default();
        for slot in slots {
            if slot.is_removed {
                changes.removed.push(slot.key);
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
    fn apply(&mut self, place: Place, kind: Kind<R>) -> Result<(), ProjectionError> {
        let was_there = self.row.is_some();
        self.row = match kind {
            // Its key was looked at when the change was made.
            Kind::Put(row) => Some(row),
            Kind::Follow(follow) => {
                let before = self.row.take();
                let row = guarded(|| follow(before))?;
                if let Some(row) = &row {
                    self.check_key(row)?;
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

    fn check_key(&self, row: &R) -> Result<(), ProjectionError> {
        let own = RowKey::of(row.key())?;
        if own == self.key {
            return Ok(());
        }
        Err(ProjectionError::OtherKey {
            row: own,
            event: self.key.clone(),
        })
    }
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
