//! Returning.

use fw::prelude::*;

/// Takes a copy back.
#[derive(Command)]
#[command(subject = "/books/{id}", condition = exists)]
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
fn give_back(command: ReturnBookCommand) -> BookReturnedEvent {
    BookReturnedEvent { id: command.id }
}
