//! The traits of a read model: a row for each key, folded from events by pure functions.

use std::marker::PhantomData;

use serde::{Serialize, de::DeserializeOwned};

use super::{
    Cell, CellError, ColumnDescriptor, ColumnVisibility, KeyError, KeyFields, RowKey,
    SearchedColumn,
};
use es_event::{Declaration, DecodeError, Event, EventView};
use es_subscribe::catch_panic;

/// A row of a table that queries read. `#[derive(ReadModel)]` implements it.
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
/// assert_eq!((BookCopy::TABLE, BookCopy::KEY), ("book_copies", ["id"].as_slice()));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a read model",
    label = "this is no read model",
    note = "a read model is a struct with `#[derive(ReadModel)]`, whose rows the functions below `#[projection]` make from events"
)]
pub trait ReadModel: Serialize + DeserializeOwned + Send + Sync + Sized + 'static {
    /// The type of the key; a tuple if it has several fields.
    type Key: KeyFields;

    /// The table's name.
    const TABLE: &'static str;
    /// The subject of the events of a row, with the columns of the key in braces. Empty if each
    /// function of the projection names its key.
    const SUBJECT: &'static str;
    /// The columns, in the order of the fields.
    const COLUMNS: &'static [ColumnDescriptor];
    /// The names of the key's columns.
    const KEY: &'static [&'static str];
    /// The columns with an index besides those that queries compare.
    const INDEXED: &'static [&'static str];
    /// The columns that the declaration prepares for searches.
    const SEARCHED: &'static [SearchedColumn] = &[];
    /// The columns that only some callers see.
    const VISIBILITY: &'static [ColumnVisibility] = &[];
    /// The version of the declaration. A new version rebuilds the read model.
    const VERSION: u32;
    /// The place of the declaration.
    const DECLARATION: Declaration;

    /// Returns the key of this row.
    fn key(&self) -> KeyRef<'_, Self>;

    /// Converts the row to cells, one for each column.
    ///
    /// # Errors
    /// A field does not fit its column.
    fn to_cells(&self) -> Result<Vec<Cell>, CellError>;

    /// Converts cells to a row.
    ///
    /// # Errors
    /// A cell does not fit its field.
    fn from_cells(cells: Cells) -> Result<Self, CellError>;
}

/// References to the fields of the key of a read model: `&Uuid`, or `(&Uuid, &String)`.
///
/// ```
/// use es_framework::{prelude::*, projection::KeyRef};
///
/// async fn is_there<R: ReadModel>(context: &QueryContext<'_>, key: KeyRef<'_, R>) -> Result<bool, QueryError> {
///     Ok(context.find_row::<R>(key).await?.is_some())
/// }
/// ```
pub type KeyRef<'a, R> = <<R as ReadModel>::Key as KeyFields>::Fields<'a>;

impl RowKey {
    /// Returns the key of a row of the read model `R`, given its fields.
    ///
    /// # Errors
    /// A field is neither a text nor a whole number.
    pub fn from_fields<R: ReadModel>(fields: KeyRef<'_, R>) -> Result<Self, KeyError> {
        R::Key::to_row_key(fields)
    }

    /// Returns the key of a row of the read model `R`, which a function has computed: its field, or the tuple of its fields.
    ///
    /// # Errors
    /// A field is neither a text nor a whole number.
    pub fn from_key<R: ReadModel>(key: R::Key) -> Result<Self, KeyError> {
        Self::from_fields::<R>(key.fields())
    }
}

/// The projection of events into a read model. `#[projection]` implements it.
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
    /// The types of the events that the read model applies.
    const EVENTS: &'static [&'static str];
    /// The types of the events whose row's key stands in their subject.
    const EVENTS_OF_SUBJECT: &'static [&'static str] = &[];
    /// The place of the projection.
    const PROJECTION: Declaration;

    /// Returns the changes that an event makes, in their order. It can change several rows, up to 1,024.
    ///
    /// # Errors
    /// The event does not fit its declaration, or has no key.
    fn changes(event: &EventView<'_>) -> Result<Vec<RowChange<Self>>, ProjectionError>;
}

/// The reason why a read model cannot apply an event.
///
/// ```
/// use es_framework::{prelude::*, projection::{RowChange, ProjectionError, RowKey}};
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
/// let misplaced = RowChange::put(RowKey::Integer(42), row);
/// assert!(matches!(misplaced, Err(ProjectionError::OtherKey { .. })));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum ProjectionError {
    /// The event does not fit its declaration.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The event has no key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The new row does not fit the table.
    #[error("the row that follows does not fit its table: {0}")]
    Cell(#[from] CellError),
    /// The stored row cannot be read.
    #[error("the stored row cannot be read: {0}: rebuild the read model")]
    StoredRow(#[source] CellError),
    /// The key of the new row differs from the key of the event.
    #[error("the row that follows has the key {row:?}, but the event is about {event:?}")]
    OtherKey {
        /// The row's key.
        row: RowKey,
        /// The event's key.
        event: RowKey,
    },
    /// The event changes more rows than there are positions for new rows.
    #[error(
        "the event changes {rows} rows, and at most {most} are possible: record several events"
    )]
    TooManyRows {
        /// The number of rows.
        rows: usize,
        /// The largest possible number.
        most: i64,
    },
    /// A function of the projection panicked.
    #[error("the projection panicked: {0}")]
    Panicked(String),
}

/// The change that an event makes in a read model.
///
/// ```
/// use es_framework::{prelude::*, projection::{RowChange, RowKey}};
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
/// let key = RowKey::from_value(&Uuid::nil())?;
/// let renamed = RowChange::update(key, |copy: BookCopy| Some(BookCopy { title: "The Ring".into(), ..copy }));
/// # drop(renamed);
/// # Ok::<_, es_framework::projection::KeyError>(())
/// ```
pub struct RowChange<R> {
    pub(super) change: KeyedChange,
    pub(super) row: PhantomData<fn() -> R>,
}

/// The change of one row, without the type of the row, so that what handles changes is compiled once.
pub(super) struct KeyedChange {
    pub(super) key: RowKey,
    pub(super) computation: CellComputation,
    /// True if the computation needs the stored row. Otherwise it gets none.
    pub(super) needs_row: bool,
}

/// Computes the cells of the row with a key from the cells of the row before, if there is one.
pub(super) type CellComputation = Box<
    dyn FnOnce(&RowKey, Option<Vec<Cell>>) -> Result<Option<Vec<Cell>>, ProjectionError> + Send,
>;

impl<R: ReadModel> RowChange<R> {
    /// Returns a change that replaces the row.
    ///
    /// # Errors
    /// The row's key is not this key.
    pub fn put(key: RowKey, row: R) -> Result<Self, ProjectionError> {
        check_key(&key, &row)?;
        Ok(Self::compute(key, move |_| Some(row)).without_stored_row())
    }

    /// Returns a change of the row with this key. It has no effect if there is no row.
    #[must_use]
    pub fn update(key: RowKey, change: impl FnOnce(R) -> Option<R> + Send + 'static) -> Self {
        Self::compute(key, move |row| change(row?))
    }

    /// Returns a change that computes the row with this key from the stored row, if there is one.
    #[must_use]
    pub fn compute(
        key: RowKey,
        change: impl FnOnce(Option<R>) -> Option<R> + Send + 'static,
    ) -> Self {
        let compute = move |key: &RowKey, stored: Option<Vec<Cell>>| {
            let before = stored.map(read_stored_row::<R>).transpose()?;
            let after = call_projection(|| change(before))?;
            after.map(|row| write_row(key, &row)).transpose()
        };
        Self {
            change: KeyedChange {
                key,
                computation: Box::new(compute),
                needs_row: true,
            },
            row: PhantomData,
        }
    }

    /// Returns the change of a computation that ignores the stored row.
    pub(super) fn without_stored_row(mut self) -> Self {
        self.change.needs_row = false;
        self
    }
}

/// Another version of the code may have written a row that the read model cannot read. A rebuild helps.
fn read_stored_row<R: ReadModel>(cells: Vec<Cell>) -> Result<R, ProjectionError> {
    R::from_cells(Cells::new(cells)).map_err(ProjectionError::StoredRow)
}

fn write_row<R: ReadModel>(key: &RowKey, row: &R) -> Result<Vec<Cell>, ProjectionError> {
    check_key(key, row)?;
    Ok(row.to_cells()?)
}

/// Calls code of the application. A panic fails the event and nothing else.
pub(super) fn call_projection<T>(call: impl FnOnce() -> T) -> Result<T, ProjectionError> {
    catch_panic(call).map_err(ProjectionError::Panicked)
}

/// Checks that a row has the key that its event tells.
fn check_key<R: ReadModel>(key: &RowKey, row: &R) -> Result<(), ProjectionError> {
    let own = RowKey::from_fields::<R>(row.key())?;
    if own == *key {
        return Ok(());
    }
    Err(ProjectionError::OtherKey {
        row: own,
        event: key.clone(),
    })
}

/// The cells of a row, which its fields read one by one.
///
/// ```
/// use es_framework::projection::{Cell, Cells, ColumnType as _};
///
/// let mut cells = Cells::new(vec![Cell::Text("The Ring".into()), Cell::Integer(310)]);
/// assert_eq!(String::from_cell(cells.take_cell(), "title")?, "The Ring");
/// assert_eq!(u32::from_cell(cells.take_cell(), "numPages")?, 310);
/// # Ok::<_, es_framework::projection::CellError>(())
/// ```
#[derive(Debug)]
pub struct Cells(std::vec::IntoIter<Cell>);

impl Cells {
    /// Creates the cells of a row, in the order of its columns.
    #[must_use]
    pub fn new(cells: Vec<Cell>) -> Self {
        Self(cells.into_iter())
    }

    /// Takes the cell of the next field. A missing cell is empty.
    pub fn take_cell(&mut self) -> Cell {
        self.0.next().unwrap_or(Cell::Null)
    }
}

/// An event that is also a row. `#[event(read_model = "…")]` implements it.
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
    const COLUMNS: &'static [ColumnDescriptor];

    /// Converts the event to cells, one for each column.
    ///
    /// # Errors
    /// A field does not fit its column.
    fn to_cells(&self) -> Result<Vec<Cell>, CellError>;
}
