//! A copy comes back.

use es_framework::prelude::*;

use super::Book;
use crate::{lending::LendingRules, loan::LoanClosedEvent};

/// Takes a copy back.
///
/// Example: `{"id": "5f0c8b1e-6c1d-4c39-9a6e-3f4b7a0d2c11"}`
#[derive(Command)]
#[command(subject = "/books/{id}")]
#[command(role = ["reader", "staff"], owner_except = "staff")]
pub struct ReturnBookCommand {
    pub id: Uuid,
}

/// A copy came back.
#[derive(Debug, PartialEq, Event)]
pub struct BookReturnedEvent {
    pub id: Uuid,
    pub reader: Uuid,
    pub late_fee_cents: i64,
}

/// The reasons why a copy is not taken back.
#[derive(Debug, PartialEq, Rejection)]
pub enum ReturnError {
    /// The copy is not lent
    #[rejection(conflict)]
    CopyNotLent,
    /// The copy is lent to somebody else
    #[rejection(forbidden)]
    LentToSomebodyElse,
    /// The credential has no owner id, so no copy is lent to its holder
    #[rejection(forbidden)]
    NoOwnerId,
}

impl From<NotOwner> for ReturnError {
    fn from(error: NotOwner) -> Self {
        match error {
            NotOwner::NoOwnerId => Self::NoOwnerId,
            _ => Self::LentToSomebodyElse,
        }
    }
}

/// The receipt for the reader.
#[derive(Debug, PartialEq, Value)]
pub struct Receipt {
    pub late_fee_cents: i64,
}

#[handler]
fn return_book(
    book: &Book,
    command: ReturnBookCommand,
    lending: &LendingRules,
    clock: &Clock,
    caller: &Caller,
) -> Result<Decision<(BookReturnedEvent, LoanClosedEvent), Receipt>, ReturnError> {
    let Book::Lent { reader, due_at, .. } = *book else {
        return Err(ReturnError::CopyNotLent);
    };
    caller.must_own(&reader)?;
    let id = command.id;
    let late_fee_cents = lending.late_fee_cents(due_at, clock.now());
    let returned = BookReturnedEvent {
        id,
        reader,
        late_fee_cents,
    };
    let closed = LoanClosedEvent { reader, book: id };
    Ok(Decision::new(
        (returned, closed),
        Receipt { late_fee_cents },
    ))
}
