//! A reader borrows a copy.

use es_framework::prelude::*;

use super::Book;
use crate::{
    lending::{Lending, LendingError},
    loan::LoanOpenedEvent,
    reader::Reader,
};

/// Lends a copy to a reader.
#[derive(Command)]
#[command(subject = "/books/{id}", condition = exists)]
pub struct BorrowBookCommand {
    pub id: Uuid,
    pub reader: Uuid,
}

/// A copy was lent to a reader.
#[derive(Debug, PartialEq, Event)]
pub struct BookBorrowedEvent {
    pub id: Uuid,
    pub reader: Uuid,
    pub due_at: Timestamp,
}

/// What the reader is told.
#[derive(Debug, PartialEq, Value)]
pub struct Loan {
    pub due_at: Timestamp,
}

#[handler]
fn borrow(
    book: &Book,
    #[subject("/readers/{reader}")] reader: &Reader,
    command: BorrowBookCommand,
    lending: &Lending,
    clock: &Clock,
) -> Result<Decision<(BookBorrowedEvent, LoanOpenedEvent), Loan>, LendingError> {
    match book {
        Book::Available => {}
        Book::Lent { due_at, .. } => return Err(LendingError::CopyLent { due_at: *due_at }),
        Book::Removed => return Err(LendingError::CopyRemoved),
    }
    if reader.loans.len() >= lending.limit() {
        return Err(LendingError::LoanLimitReached {
            limit: lending.loan_limit,
        });
    }
    let BorrowBookCommand { id, reader } = command;
    let due_at = lending.due_at(clock.now());
    let borrowed = BookBorrowedEvent { id, reader, due_at };
    let opened = LoanOpenedEvent {
        reader,
        book: id,
        due_at,
    };
    Ok(Decision::new((borrowed, opened), Loan { due_at }))
}
