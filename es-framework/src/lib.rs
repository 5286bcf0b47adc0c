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
pub use command::{Command, Rejection};
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
/// use es_framework::{command::RejectionKind, prelude::*};
///
/// /// Why a copy is not lent.
/// #[derive(Debug, Rejection)]
/// pub enum LendingError {
///     /// The copy is lent
///     #[rejection(conflict, detail = "the copy is lent until {due_at}")]
///     CopyIsLent { due_at: String },
///     /// The copy was removed
///     #[rejection(gone)]
///     CopyRemoved,
/// }
///
/// let refusal = LendingError::CopyIsLent { due_at: "2026-12-24".into() };
/// assert_eq!(refusal.name(), "copy-is-lent");
/// assert_eq!(refusal.title(), "The copy is lent");
/// assert_eq!(refusal.to_string(), "the copy is lent until 2026-12-24");
/// assert_eq!(LendingError::all()[1].kind, RejectionKind::Gone);
/// ```
pub use es_macros::Rejection;
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
/// ```
/// use es_framework::{event::Upcast, prelude::*};
///
/// /// The event as it was stored until its pages became a number.
/// #[derive(Event)]
/// #[event(name = "BookPurchasedEvent")]
/// struct BookPurchasedV1 {
///     pages: String,
/// }
///
/// #[derive(Event)]
/// #[event(version = 2)]
/// struct BookPurchasedEvent {
///     pages: u32,
/// }
///
/// #[upcast]
/// fn pages_became_a_number(old: BookPurchasedV1) -> BookPurchasedEvent {
///     BookPurchasedEvent { pages: old.pages.parse().unwrap_or_default() }
/// }
///
/// assert_eq!(BookPurchasedEvent::TYPE, "com.example.library.BookPurchasedEvent.v2");
/// assert_eq!(BookPurchasedV1 { pages: "310".into() }.upcast().pages, 310);
/// ```
pub use es_macros::upcast;
pub use event::Event;

/// What the macros write code against. Not for use by hand: it may change in any release.
#[doc(hidden)]
pub mod __private {
    pub use inventory;
    pub use schemars;
    pub use serde;
}
