//! The declaration of a read model as plain data.

use schemars::{Schema, SchemaGenerator};

use super::{
    ColumnDescriptor, ColumnVisibility, EventRow, Project, RowIdentity, SearchedColumn,
    row_functions::RowFunctions,
};
use es_event::Declaration;

/// The declaration of a read model as plain data.
///
/// ```
/// use es_framework::{prelude::*, projection::ReadModelDescriptor};
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
/// let copies = ReadModelDescriptor::of::<BookCopy>();
/// assert_eq!((copies.name, copies.version), ("book_copies", 1));
/// ```
#[derive(Clone, Copy)]
pub struct ReadModelDescriptor {
    /// The table's name.
    pub name: &'static str,
    /// The types of the events that the read model applies.
    pub events: &'static [&'static str],
    /// The types of the events whose row's key stands in their subject.
    pub events_of_subject: &'static [&'static str],
    /// The template of the subject in which the key stands, or an empty text.
    pub subject: &'static str,
    /// The columns, in the order of the fields.
    pub columns: &'static [ColumnDescriptor],
    /// The identity of the read model's rows.
    pub identity: RowIdentity,
    /// The columns with an index besides those that queries compare.
    pub indexed: &'static [&'static str],
    /// The columns that the declaration prepares for searches.
    pub searched: &'static [SearchedColumn],
    /// The columns that only some callers see.
    pub visibility: &'static [ColumnVisibility],
    /// The version of the declaration. A new version rebuilds the read model.
    pub version: u32,
    /// The place of the declaration.
    pub declaration: Declaration,
    /// The JSON schema of a row, if the framework itself serves the rows.
    pub row: Option<fn(&mut SchemaGenerator) -> Schema>,
    pub(super) source: RowFunctions,
}

inventory::collect!(ReadModelDescriptor);

impl ReadModelDescriptor {
    /// Returns the descriptor of the read model `R`.
    #[must_use]
    pub const fn of<R: Project>() -> Self {
        Self {
            name: R::TABLE,
            events: R::EVENTS,
            events_of_subject: R::EVENTS_OF_SUBJECT,
            subject: R::SUBJECT,
            columns: R::COLUMNS,
            identity: RowIdentity::of::<R>(),
            indexed: R::INDEXED,
            searched: R::SEARCHED,
            visibility: R::VISIBILITY,
            version: R::VERSION,
            declaration: R::DECLARATION,
            row: None,
            source: RowFunctions::of::<R>(),
        }
    }

    /// Returns the descriptor of the table that `#[event(read_model = "…")]` declares: one row for each
    /// event of type `E`.
    #[must_use]
    pub const fn of_events<E: EventRow>() -> Self {
        Self {
            name: E::TABLE,
            events: &[E::TYPE],
            events_of_subject: &[],
            subject: "",
            columns: E::COLUMNS,
            identity: RowIdentity::Event,
            indexed: &[],
            searched: &[],
            visibility: &[],
            version: 1,
            declaration: E::DECLARATION,
            row: Some(SchemaGenerator::subschema_for::<E>),
            source: RowFunctions::of_events::<E>(),
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
