//! Loans, recorded on the reader's subject. Each decision on a reader reads them, so that the loan
//! limit holds.

mod of_reader;
mod open;
mod overdue;
mod public_events;
mod remind;

use es_framework::prelude::*;

/// A reader holds a copy.
#[derive(Debug, PartialEq, Event)]
#[event(subject = "/readers/{reader}")]
pub struct LoanOpenedEvent {
    pub reader: Uuid,
    pub book: Uuid,
    pub due_at: Timestamp,
}

impl LoanOpenedEvent {
    pub fn new(reader: Uuid, book: Uuid, due_at: Timestamp) -> Self {
        Self {
            reader,
            book,
            due_at,
        }
    }
}

/// A reader no longer holds a copy.
#[derive(Debug, PartialEq, Event)]
#[event(subject = "/readers/{reader}")]
pub struct LoanClosedEvent {
    pub reader: Uuid,
    pub book: Uuid,
}

/// A copy is not back in time.
#[derive(Debug, PartialEq, Event)]
pub struct LoanOverdueEvent {
    pub id: Uuid,
    pub reader: Uuid,
    pub due_at: Timestamp,
}
