//! Given, when, then: tests of handlers over production code, without a server or a database.
//!
//! ```
//! use es_framework::{prelude::*, testing::given};
//! # #[derive(Debug, PartialEq, Event)]
//! # struct BookPurchasedEvent { id: Uuid }
//! # #[derive(Debug, PartialEq, Event)]
//! # struct BookRemovedEvent { id: Uuid }
//! # #[derive(State)]
//! # struct Book { is_removed: bool }
//! # #[evolve]
//! # impl Book {
//! #     fn purchased(_: &BookPurchasedEvent) -> Self { Self { is_removed: false } }
//! #     fn removed(&mut self, _: &BookRemovedEvent) { self.is_removed = true; }
//! # }
//! # #[derive(Debug, Rejection)]
//! # #[rejection(gone, title = "The copy was removed", name = "copy-removed")]
//! # struct CopyRemoved;
//! # #[derive(Command)]
//! # #[command(subject = "/books/{id}")]
//! # struct RemoveBookCommand { id: Uuid }
//! # #[handler]
//! # fn remove(book: &Book, command: RemoveBookCommand) -> Result<BookRemovedEvent, CopyRemoved> {
//! #     if book.is_removed { return Err(CopyRemoved); }
//! #     Ok(BookRemovedEvent { id: command.id })
//! # }
//! let id = Uuid::nil();
//!
//! given()
//!     .event(BookPurchasedEvent { id })
//!     .when(RemoveBookCommand { id })
//!     .then(BookRemovedEvent { id });
//!
//! given()
//!     .event(BookPurchasedEvent { id })
//!     .event(BookRemovedEvent { id })
//!     .when(RemoveBookCommand { id })
//!     .then_rejected(&CopyRemoved);
//! ```
//!
//! [`Scenario::query`] and [`Scenario::rows`] test the read side in the same way, and
//! [`Scenario::reacts`] tests a reaction. [`Scenario::then_published`] tests the publications.
//!
//! [`schema_lock!`] is a test that stored events stay readable. No service links this crate.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

mod default_settings;
mod difference;
mod event_json;
mod expectation;
mod publication;
mod reaction;
mod read_side;
mod scenario;
mod scenario_runner;
mod scenario_store;
pub mod schema_lock;

pub use expectation::CommandExpectation;
pub use reaction::ReactionExpectation;
pub use scenario::{Scenario, given};
