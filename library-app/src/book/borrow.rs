//! A reader borrows a copy.

use es_framework::prelude::*;

use super::Book;
use crate::lending::{LendingError, LendingRules};
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
) -> Result<Decision<(BookBorrowedEvent, LoanOpenedEvent, FulfilledReservation), Loan>, LendingError>
{
    let BorrowBookCommand { id, reader } = command;
    book.check_lendable_to(reader)?;
    lending.check_limit(state)?;
    let due_at = lending.due_at(clock.now());
    let borrowed = BookBorrowedEvent { id, reader, due_at };
    let opened = LoanOpenedEvent::new(reader, id, due_at);
    let fulfilled = fulfil_reservation(state, copy, reader, id);
    let events = (borrowed, opened, fulfilled);
    Ok(Decision::new(events, Loan { due_at }))
}
