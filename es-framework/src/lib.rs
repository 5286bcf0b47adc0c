//! An event-sourcing framework: declare a command, an event and a handler; the rest is supplied.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

// So that what the macros write, `::es_framework::…`, also resolves in here.
#[allow(unused_extern_crates)]
extern crate self as es_framework;

mod app;
pub mod command;
pub mod config;
mod declaration;
mod error;
pub mod event;
pub mod eventql;
#[cfg(test)]
mod garden;
pub mod http;
mod net;
pub mod prelude;
pub mod projection;
pub mod query;
pub mod server;
mod shutdown;
pub mod store;

pub use app::App;
pub use command::Command;
pub use declaration::Declaration;
pub use error::{Error, Result};
/// ```
/// use es_framework::{command::Condition, prelude::*};
///
/// /// Adds a new copy of a book to the inventory.
/// #[derive(Command)]
/// #[command(subject = "/books/{id}", condition = pristine)]
/// pub struct PurchaseBookCommand {
///     pub id: Uuid,
///     #[validate(text(max = 500))]
///     pub title: String,
///     #[validate(range(min = 1))]
///     pub num_pages: i64, // numPages on the wire
/// }
///
/// assert_eq!(PurchaseBookCommand::PATH, "/books/purchase");
/// assert_eq!(PurchaseBookCommand::CONDITION, Condition::Pristine);
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[handler]
/// # fn purchase(_: PurchaseBookCommand) -> BookPurchasedEvent { BookPurchasedEvent {} }
/// ```
pub use es_macros::Command;
/// ```
/// use es_framework::prelude::*;
///
/// /// A copy was added to the inventory.
/// #[derive(Event)]
/// pub struct BookPurchasedEvent {
///     pub id: Uuid,
///     pub title: String,
/// }
///
/// assert_eq!(BookPurchasedEvent::TYPE, "com.example.library.BookPurchasedEvent");
/// ```
pub use es_macros::Event;
/// ```
/// use es_framework::{command::Handle, prelude::*};
///
/// #[derive(Command)]
/// #[command(subject = "/books/{id}")]
/// struct PurchaseBookCommand {
///     id: Uuid,
/// }
///
/// #[derive(Event)]
/// struct BookPurchasedEvent {
///     id: Uuid,
/// }
///
/// #[handler]
/// fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent {
///     BookPurchasedEvent { id: command.id }
/// }
///
/// let decision = PurchaseBookCommand { id: Uuid::nil() }.handle()?;
/// assert_eq!(decision.into_events().len(), 1);
/// # Ok::<_, es_framework::command::HandlerError>(())
/// ```
pub use es_macros::handler;
/// See [`ReadModel`].
pub use es_macros::projection;
/// ```
/// use es_framework::prelude::*;
///
/// #[derive(Event)]
/// pub struct BookPurchasedEvent {
///     pub id: Uuid,
///     pub title: String,
/// }
///
/// #[derive(ReadModel)]
/// #[read_model(table = "book_copies", subject = "/books/{id}")]
/// pub struct BookCopy {
///     #[key]
///     pub id: Uuid,
///     pub title: String,
/// }
///
/// #[projection]
/// impl BookCopy {
///     fn purchased(event: &BookPurchasedEvent) -> Self {
///         let BookPurchasedEvent { id, title } = event;
///         Self { id: *id, title: title.clone() }
///     }
/// }
///
/// /// Browses the stock.
/// #[derive(Query)]
/// #[query(path = "/books", rows = BookCopy)]
/// pub struct BrowseStock {
///     #[filter(contains)]
///     pub title: Option<String>,
/// }
/// ```
pub use es_macros::{Query, ReadModel};
pub use event::Event;
pub use projection::ReadModel;
pub use query::Query;

/// What the macros write code against. Not for use by hand: it may change in any release.
#[doc(hidden)]
pub mod __private {
    pub use crate::query::checks::{comparable, comparable_list, comparable_option};
    pub use inventory;
    pub use schemars;
    pub use serde;
}
