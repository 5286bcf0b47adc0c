//! A copy of a book: how its state follows from its events.

use fw::prelude::*;

use crate::{borrow::BookBorrowedEvent, give_back::BookReturnedEvent};

/// A copy that was borrowed at least once.
#[derive(State)]
pub enum Book {
    /// It is on the shelf.
    Available,
    /// Somebody has it.
    Lent {
        /// Who has it.
        reader: String,
    },
}

#[evolve]
impl Book {
    fn borrowed(event: &BookBorrowedEvent) -> Self {
        let reader = event.reader.clone();
        Self::Lent { reader }
    }

    fn returned(&mut self, _: &BookReturnedEvent) {
        *self = Self::Available;
    }
}

/// Why a copy is not lent or taken back.
#[derive(Debug, Rejection)]
pub enum LendingError {
    /// The copy is lent
    #[rejection(conflict, detail = "{reader} has it")]
    CopyLent {
        /// Who has it.
        reader: String,
    },
    /// The copy is not lent
    #[rejection(conflict)]
    CopyNotLent,
}
