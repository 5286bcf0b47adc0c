//! A read model's declaration without its Rust type, as the processor and the queries need it.

use schemars::{Schema, SchemaGenerator};

use super::{
    Column, EventRow, Project,
    fold::{EventRows, Fold, RowFold},
};
use crate::Declaration;

/// A read model's declaration without its Rust type.
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
    /// The JSON schema of a row, if the framework itself serves the rows.
    pub row: Option<fn(&mut SchemaGenerator) -> Schema>,
    pub(super) fold: fn() -> Box<dyn Fold>,
}

/// What tells the rows of a read model apart.
///
/// ```
/// use es_framework::{prelude::*, projection::{Identity, ReadModelDescriptor}};
///
/// #[derive(Event)]
/// #[event(read_model = "donations")]
/// struct BookDonatedEvent {
///     title: String,
/// }
///
/// let donations = ReadModelDescriptor::of_events::<BookDonatedEvent>();
/// assert_eq!(donations.identity, Identity::Event);
/// ```
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
            row: None,
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
            row: Some(SchemaGenerator::subschema_for::<E>),
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
