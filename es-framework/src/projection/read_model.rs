//! The declaration of a read model: a row for each key, folded from events by pure functions.

use serde::{Serialize, de::DeserializeOwned};

use super::{Cell, CellError, Column, ColumnValue, KeyError, RowKey};
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
///
/// ```
/// use es_framework::{prelude::*, projection::Project};
/// # #[derive(Event)]
/// # struct BookPurchasedEvent { id: Uuid, title: String }
/// # #[derive(ReadModel)]
/// # #[read_model(table = "book_copies", subject = "/books/{id}")]
/// # struct BookCopy {
/// #     #[key]
/// #     id: Uuid,
/// #     title: String,
/// # }
/// # #[projection]
/// # impl BookCopy {
/// #     fn purchased(event: &BookPurchasedEvent) -> Self {
/// #         Self { id: event.id, title: event.title.clone() }
/// #     }
/// # }
/// assert_eq!(BookCopy::EVENTS, ["com.example.library.BookPurchasedEvent"]);
/// ```
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
///
/// ```
/// use es_framework::{prelude::*, projection::{Change, ProjectionError, RowKey}};
/// # #[derive(Event)]
/// # struct BookPurchasedEvent { id: Uuid, title: String }
/// # #[derive(ReadModel)]
/// # #[read_model(table = "book_copies", subject = "/books/{id}")]
/// # struct BookCopy {
/// #     #[key]
/// #     id: Uuid,
/// #     title: String,
/// # }
/// # #[projection]
/// # impl BookCopy {
/// #     fn purchased(event: &BookPurchasedEvent) -> Self {
/// #         Self { id: event.id, title: event.title.clone() }
/// #     }
/// # }
/// let row = BookCopy { id: Uuid::nil(), title: "The Ring".into() };
/// let misplaced = Change::put(RowKey::Integer(42), row);
/// assert!(matches!(misplaced, Err(ProjectionError::OtherKey { .. })));
/// ```
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
///
/// ```
/// use es_framework::{prelude::*, projection::{Change, RowKey}};
/// # #[derive(Event)]
/// # struct BookPurchasedEvent { id: Uuid, title: String }
/// # #[derive(ReadModel)]
/// # #[read_model(table = "book_copies", subject = "/books/{id}")]
/// # struct BookCopy {
/// #     #[key]
/// #     id: Uuid,
/// #     title: String,
/// # }
/// # #[projection]
/// # impl BookCopy {
/// #     fn purchased(event: &BookPurchasedEvent) -> Self {
/// #         Self { id: event.id, title: event.title.clone() }
/// #     }
/// # }
/// let key = RowKey::of(&Uuid::nil())?;
/// let renamed = Change::update(key, |copy: BookCopy| Some(BookCopy { title: "The Ring".into(), ..copy }));
/// # drop(renamed);
/// # Ok::<_, es_framework::projection::KeyError>(())
/// ```
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
///
/// ```
/// use es_framework::projection::{Cell, Cells};
///
/// let mut cells = Cells::new(vec![Cell::Text("The Ring".into()), Cell::Integer(310)]);
/// assert_eq!(cells.next::<String>("title")?, "The Ring");
/// assert_eq!(cells.next::<u32>("numPages")?, 310);
/// # Ok::<_, es_framework::projection::CellError>(())
/// ```
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

/// An event that is a row itself. `#[event(read_model = "…")]` implements it.
///
/// ```
/// use es_framework::{prelude::*, projection::{Cell, EventRow}};
///
/// #[derive(Event)]
/// #[event(read_model = "donations")] // served at /donations
/// struct BookDonatedEvent {
///     title: String,
/// }
///
/// let donated = BookDonatedEvent { title: "The Ring".into() };
/// assert_eq!(donated.to_cells()?, [Cell::Text("The Ring".into())]);
/// # Ok::<_, es_framework::projection::CellError>(())
/// ```
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
