//! Staff remove a damaged copy.

use es_framework::prelude::*;

use super::Book;
use crate::lending::LendingError;

/// Takes a damaged copy out of the inventory.
///
/// Example: `{"id": "5f0c8b1e-6c1d-4c39-9a6e-3f4b7a0d2c11", "reason": "Pages are missing."}`
#[derive(Command)]
#[command(subject = "/books/{id}", role = "staff")]
pub struct RemoveBookCommand {
    pub id: Uuid,
    #[validate(text(max = 500))]
    pub reason: String,
}

/// A copy was taken out of the inventory.
#[derive(Debug, PartialEq, Event)]
#[event(from = RemoveBookCommand)]
pub struct BookRemovedEvent {
    pub id: Uuid,
    pub reason: String,
}

#[handler]
fn remove(book: &Book, command: RemoveBookCommand) -> Result<BookRemovedEvent, LendingError> {
    book.check_available()?;
    Ok(command.into())
}
