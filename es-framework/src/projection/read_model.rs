//! The declaration of a read model: a row for each key, folded from events by pure functions.

use serde::{Serialize, de::DeserializeOwned};

use super::{
    Cell, CellError, Column, ColumnValue, KeyError, RowKey,
    fold::{EventRows, Fold, RowFold},
};
use crate::{
    Declaration,
    event::{DecodeError, Event, EventView},
};

/// A row that clients ask about. `#[derive(ReadModel)]` implements it.
///
/// ```
/// use es_framework::prelude::*;
///
/// #[derive(Event)]
/// struct BookPurchasedEvent {
///     id: String,
/// }
///
/// #[derive(ReadModel)]
/// #[read_model(table = "book_copies", subject = "/books/{id}")]
/// struct BookCopy {
///     #[key]
///     id: String,
/// }
///
/// #[projection]
/// impl BookCopy {
///     fn purchased(event: BookPurchasedEvent) -> Self {
///         Self { id: event.id }
///     }
/// }
///
/// assert_eq!((BookCopy::TABLE, BookCopy::KEY), ("book_copies", "id"));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a read model",
    label = "this is no read model",
    note = "put `#[derive(ReadModel)]` on the struct `{Self}`"
)]
pub trait ReadModel: Serialize + DeserializeOwned + Send + Sync + Sized + 'static {
    /// What tells its rows apart.
    type Key: ColumnValue;

    /// The table's name.
    const TABLE: &'static str;
    /// The subject whose events make a row, with the key's field in braces; empty if each function
    /// of the projection names its key.
    const SUBJECT: &'static str;
    /// The columns, in the order of the fields.
    const COLUMNS: &'static [Column];
    /// The name of the key's column.
    const KEY: &'static str;
    /// The columns that rows are found by, besides those that queries compare.
    const INDEXED: &'static [&'static str];
    /// The number of the declaration: another one has the rows made again.
    const VERSION: u32;
    /// Where it is declared.
    const DECLARATION: Declaration;

    /// The key of this row.
    fn key(&self) -> &Self::Key;

    /// The row's cells, one for each column.
    ///
    /// # Errors
    /// A field does not fit its column.
    fn to_cells(&self) -> Result<Vec<Cell>, CellError>;

    /// The row of these cells.
    ///
    /// # Errors
    /// A cell holds what its field does not take.
    fn from_cells(cells: Cells) -> Result<Self, CellError>;
}

/// How a read model follows from events. `#[projection]` implements it.
#[diagnostic::on_unimplemented(
    message = "nothing says how `{Self}` follows from events",
    label = "this read model has no projection",
    note = "write `#[projection] impl {Self} {{ fn purchased(event: &BookPurchasedEvent) -> Self {{ … }} }}`"
)]
pub trait Project: ReadModel {
    /// The types of the events that it follows from.
    const EVENTS: &'static [&'static str];
    /// Where it is declared.
    const PROJECTION: Declaration;

    /// What an event changes; `None` if it is not about this read model.
    ///
    /// # Errors
    /// The event does not fit its declaration, or has no key.
    fn change(event: &EventView<'_>) -> Result<Option<Change<Self>>, ProjectionError>;
}

/// An event that a read model cannot take.
#[derive(Debug, thiserror::Error)]
pub enum ProjectionError {
    /// It does not fit its declaration.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// It has no key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The row that follows from it does not fit the table.
    #[error("the row that follows does not fit its table: {0}")]
    Cell(#[from] CellError),
    /// The row that follows from it has a key of its own.
    #[error("the row that follows has the key {row:?}, but the event is about {event:?}")]
    OtherKey {
        /// The row's key.
        row: RowKey,
        /// The event's key.
        event: RowKey,
    },
    /// The function of the projection panicked.
    #[error("the projection panicked: {0}")]
    Panicked(String),
}

/// What an event changes in a read model.
pub struct Change<R> {
    pub(super) key: RowKey,
    pub(super) kind: Kind<R>,
}

pub(super) enum Kind<R> {
    /// The row is this one from now on, whatever it was.
    Put(R),
    /// The row follows from the one before.
    Follow(Follow<R>),
}

type Follow<R> = Box<dyn FnOnce(Option<R>) -> Option<R> + Send>;

impl<R: ReadModel> Change<R> {
    /// A row whose content does not depend on what was there.
    ///
    /// # Errors
    /// The row's own key cannot be one.
    pub fn put(key: RowKey, row: R) -> Result<Self, ProjectionError> {
        let own = RowKey::of(row.key())?;
        if own != key {
            return Err(ProjectionError::OtherKey {
                row: own,
                event: key,
            });
        }
        let kind = Kind::Put(row);
        Ok(Self { key, kind })
    }

    /// A change of the row with this key; nothing happens if there is none.
    #[must_use]
    pub fn update(key: RowKey, change: impl FnOnce(R) -> Option<R> + Send + 'static) -> Self {
        Self::follow(key, move |row| change(row?))
    }

    /// What becomes of the row with this key, be there one or none.
    #[must_use]
    pub fn follow(
        key: RowKey,
        change: impl FnOnce(Option<R>) -> Option<R> + Send + 'static,
    ) -> Self {
        let kind = Kind::Follow(Box::new(change));
        Self { key, kind }
    }
}

/// The cells of a row on their way into its fields.
#[derive(Debug)]
pub struct Cells(std::vec::IntoIter<Cell>);

impl Cells {
    /// The cells of a row, in the order of its columns.
    #[must_use]
    pub fn new(cells: Vec<Cell>) -> Self {
        Self(cells.into_iter())
    }

    /// The next field.
    ///
    /// # Errors
    /// The cell holds what the field does not take.
    pub fn next<T: ColumnValue>(&mut self, name: &str) -> Result<T, CellError> {
        self.0.next().unwrap_or(Cell::Null).read(name)
    }
}

/// A read model's declaration without its Rust type.
#[derive(Clone, Copy)]
pub struct ReadModelDescriptor {
    /// The table's name.
    pub name: &'static str,
    /// The types of the events that it follows from.
    pub events: &'static [&'static str],
    /// The columns, in the order of the fields.
    pub columns: &'static [Column],
    /// What tells its rows apart.
    pub identity: Identity,
    /// The columns that rows are found by, besides those that queries compare.
    pub indexed: &'static [&'static str],
    /// The number of the declaration: another one has the rows made again.
    pub version: u32,
    /// Where it is declared.
    pub declaration: Declaration,
    pub(super) fold: fn() -> Box<dyn Fold>,
}

/// What tells the rows of a read model apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    /// The column of this name.
    Column(&'static str),
    /// The event that each row is. The table is served at `/<name>`, and found by subject at
    /// `/<name>/<key>`.
    Event,
}

inventory::collect!(ReadModelDescriptor);

impl ReadModelDescriptor {
    /// The descriptor of the read model `R`.
    #[must_use]
    pub const fn of<R: Project>() -> Self {
        Self {
            name: R::TABLE,
            events: R::EVENTS,
            columns: R::COLUMNS,
            identity: Identity::Column(R::KEY),
            indexed: R::INDEXED,
            version: R::VERSION,
            declaration: R::DECLARATION,
            fold: || Box::new(RowFold::<R>::default()),
        }
    }

    /// The descriptor of a table that has a row for each `E`: `#[event(read_model = "…")]`.
    #[must_use]
    pub const fn of_events<E: EventRow>() -> Self {
        Self {
            name: E::TABLE,
            events: &[E::TYPE],
            columns: E::COLUMNS,
            identity: Identity::Event,
            indexed: &[],
            version: 1,
            declaration: E::DECLARATION,
            fold: || Box::new(EventRows::<E>::default()),
        }
    }
}

impl std::fmt::Debug for ReadModelDescriptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadModelDescriptor")
            .field("name", &self.name)
            .field("declaration", &self.declaration)
            .finish_non_exhaustive()
    }
}

/// An event that is a row itself. `#[event(read_model = "…")]` implements it.
pub trait EventRow: Event {
    /// The table's name, which is also its path: `books` is served at `/books`.
    const TABLE: &'static str;
    /// The columns, in the order of the fields.
    const COLUMNS: &'static [Column];

    /// The row's cells, one for each column.
    ///
    /// # Errors
    /// A field does not fit its column.
    fn to_cells(&self) -> Result<Vec<Cell>, CellError>;
}
