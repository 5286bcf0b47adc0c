//! Staff remove a damaged copy.

use es_framework::prelude::*;

use super::Book;
use crate::lending::LendingError;

/// Takes a damaged copy out of the inventory.
#[derive(Command)]
#[command(subject = "/books/{id}", role = "staff")]
pub struct RemoveBookCommand {
    pub id: Uuid,
    #[validate(text(max = 500))]
    pub reason: String,
}

/// A copy was taken out of the inventory.
#[derive(Debug, PartialEq, Event)]
pub struct BookRemovedEvent {
    pub id: Uuid,
    pub reason: String,
}

#[handler]
fn remove(book: &Book, command: RemoveBookCommand) -> Result<BookRemovedEvent, LendingError> {
    book.check_available()?;
    let RemoveBookCommand { id, reason } = command;
    Ok(BookRemovedEvent { id, reason })
}
