//! Lending.

use fw::prelude::*;

use crate::book::{Book, LendingError};

/// Lends a copy to a reader.
#[derive(Command)]
#[command(subject = "/books/{id}", path = "/books/{id}/borrow")]
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
    /// When it has to be back.
    pub due_at: Timestamp,
}

/// What the reader is told.
#[derive(Value)]
pub struct Loan {
    /// When it has to be back.
    pub due_at: Timestamp,
}

/// What the shop allows its readers.
#[derive(Settings)]
pub struct Lending {
    /// For how many hours a copy is lent.
    #[setting(default = 48)]
    pub loan_hours: u32,
}

#[handler]
fn borrow(
    command: BorrowBookCommand,
    book: Option<&Book>,
    lending: &Lending,
    clock: &Clock,
) -> Result<Decision<BookBorrowedEvent, Loan>, LendingError> {
    if let Some(Book::Lent { reader }) = book {
        let reader = reader.clone();
        return Err(LendingError::CopyLent { reader });
    }
    let BorrowBookCommand { id, reader } = command;
    let seconds = i64::from(lending.loan_hours) * 60 * 60;
    let due_at =
        Timestamp::from_second(clock.now().as_second() + seconds).unwrap_or(Timestamp::MAX);
    let borrowed = BookBorrowedEvent { id, reader, due_at };
    Ok(Decision::new(borrowed, Loan { due_at }))
}
