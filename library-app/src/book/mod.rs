//! A copy of a book: its state and the events that change it.

mod borrow;
mod public_events;
mod purchase;
mod remove;
mod return_book;
#[cfg(test)]
mod tests;

use es_framework::prelude::*;

use crate::{
    loan::LoanOverdueEvent,
    reservation::{CopyPutBackEvent, CopySetAsideEvent},
};

pub use borrow::BookBorrowedEvent;
#[cfg(test)]
pub use borrow::{BorrowBookCommand, BorrowError};
#[cfg(test)]
pub use public_events::CopyPurchased;
pub use public_events::{CopyOfBook, PrintedBook};
pub use purchase::BookPurchasedEvent;
pub use remove::BookRemovedEvent;
#[cfg(test)]
pub use remove::RemoveBookCommand;
pub use return_book::BookReturnedEvent;

/// The state of a copy.
#[derive(Debug, PartialEq, State)]
pub enum Book {
    Available,
    Lent {
        reader: Uuid,
        due_at: Timestamp,
        /// True if the copy was reported as overdue.
        is_reported: bool,
    },
    /// The copy waits for a reader who has reserved it.
    SetAside {
        reader: Uuid,
        until: Timestamp,
    },
    Removed,
}

#[evolve]
impl Book {
    fn purchased(_: &BookPurchasedEvent) -> Self {
        Self::Available
    }

    fn borrowed(&mut self, event: &BookBorrowedEvent) {
        *self = Self::Lent {
            reader: event.reader,
            due_at: event.due_at,
            is_reported: false,
        };
    }

    fn overdue(&mut self, _: &LoanOverdueEvent) {
        if let Self::Lent { is_reported, .. } = self {
            *is_reported = true;
        }
    }

    fn returned(&mut self, _: &BookReturnedEvent) {
        *self = Self::Available;
    }

    fn set_aside(&mut self, event: &CopySetAsideEvent) {
        let CopySetAsideEvent { reader, until, .. } = *event;
        *self = Self::SetAside { reader, until };
    }

    fn put_back(&mut self, event: &CopyPutBackEvent) {
        if matches!(*self, Self::SetAside { reader, .. } if reader == event.reader) {
            *self = Self::Available;
        }
    }

    fn removed(&mut self, _: &BookRemovedEvent) {
        *self = Self::Removed;
    }
}
