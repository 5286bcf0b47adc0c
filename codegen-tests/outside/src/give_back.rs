//! Returning.

use fw::prelude::*;

use crate::book::{Book, LendingError};

/// Takes a copy back.
#[derive(Command)]
#[command(subject = "/books/{id}")]
pub struct ReturnBookCommand {
    /// The copy.
    pub id: Uuid,
}

/// A copy came back.
#[derive(Event)]
#[event(read_model = "returns")]
pub struct BookReturnedEvent {
    /// The copy.
    pub id: Uuid,
}

#[handler]
fn give_back(command: ReturnBookCommand, book: &Book) -> Result<BookReturnedEvent, LendingError> {
    match book {
        Book::Lent { .. } => Ok(BookReturnedEvent { id: command.id }),
        Book::Available => Err(LendingError::CopyNotLent),
    }
}
