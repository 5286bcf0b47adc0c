//! A reader borrows a copy.

use es_framework::prelude::*;

use super::Book;
use crate::lending::LendingRules;
use crate::loan::LoanOpenedEvent;
use crate::reader::Reader;
use crate::reservation::{CopyTitle, FulfilledReservation, fulfil_reservation};

/// Lends a copy to a reader. If the reader has reserved its title, the reservation ends.
///
/// Example: `{"id": "5f0c8b1e-6c1d-4c39-9a6e-3f4b7a0d2c11",
/// "reader": "0b6ef6a3-7d0e-4f5c-9a63-6a1b6d2f8c55"}`
#[derive(Command)]
#[command(subject = "/books/{id}")]
#[command(role = ["reader", "staff"], owner = reader, owner_except = "staff")]
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

/// The reasons why a copy is not lent.
#[derive(Debug, PartialEq, Rejection)]
pub enum BorrowError {
    /// The copy is lent
    #[rejection(conflict, detail = "the copy is lent until {due_at}")]
    CopyLent { due_at: Timestamp },
    /// The copy is set aside for another reader
    #[rejection(conflict)]
    CopySetAside,
    /// The copy was removed from the inventory
    #[rejection(gone)]
    CopyRemoved,
    /// The reader holds as many copies as allowed
    #[rejection(
        conflict,
        detail = "the reader holds {limit} copies already, and may hold no more"
    )]
    LoanLimitReached { limit: u32 },
}

/// The reply to the command: when the copy is due.
#[derive(Debug, PartialEq, Value)]
pub struct Loan {
    pub due_at: Timestamp,
}

#[handler]
fn borrow(
    book: &Book,
    copy: &CopyTitle,
    #[subject("/readers/{reader}")] state: &Reader,
    command: BorrowBookCommand,
    lending: &LendingRules,
    clock: &Clock,
) -> Result<Decision<(BookBorrowedEvent, LoanOpenedEvent, FulfilledReservation), Loan>, BorrowError>
{
    let BorrowBookCommand { id, reader } = command;
    match *book {
        Book::SetAside { reader: other, .. } if other != reader => {
            return Err(BorrowError::CopySetAside);
        }
        Book::Available | Book::SetAside { .. } => {}
        Book::Lent { due_at, .. } => return Err(BorrowError::CopyLent { due_at }),
        Book::Removed => return Err(BorrowError::CopyRemoved),
    }
    if !lending.allow_loan(state) {
        let limit = lending.loan_limit;
        return Err(BorrowError::LoanLimitReached { limit });
    }
    let due_at = lending.due_at(clock.now());
    let borrowed = BookBorrowedEvent { id, reader, due_at };
    let opened = LoanOpenedEvent::new(reader, id, due_at);
    let fulfilled = fulfil_reservation(state, copy, reader, id);
    let events = (borrowed, opened, fulfilled);
    Ok(Decision::new(events, Loan { due_at }))
}
