//! Lending.

use fw::prelude::*;

/// Lends a copy to a reader.
#[derive(Command)]
#[command(subject = "/books/{id}", path = "/books/{id}/borrow", condition = exists)]
pub struct BorrowBookCommand {
    /// The copy.
    pub id: Uuid,
    /// Who borrows it.
    #[validate(text(max = 100))]
    pub reader: String,
}

/// A copy was lent.
#[derive(Event)]
pub struct BookBorrowedEvent {
    /// The copy.
    pub id: Uuid,
    /// Who borrowed it.
    pub reader: String,
}

#[handler]
fn borrow(command: BorrowBookCommand) -> BookBorrowedEvent {
    let BorrowBookCommand { id, reader } = command;
    BookBorrowedEvent { id, reader }
}
