//! A reader: its state and the events that change it.

mod find;
mod register;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use es_framework::prelude::*;

use crate::loan::{LoanClosedEvent, LoanOpenedEvent};

pub use register::ReaderRegisteredEvent;

/// The state of a reader.
#[derive(Debug, PartialEq, State)]
pub struct Reader {
    /// The copies that the reader holds.
    pub loans: BTreeSet<Uuid>,
}

#[evolve]
impl Reader {
    fn registered(_: &ReaderRegisteredEvent) -> Self {
        let loans = BTreeSet::new();
        Self { loans }
    }

    fn loan_opened(&mut self, event: &LoanOpenedEvent) {
        self.loans.insert(event.book);
    }

    fn loan_closed(&mut self, event: &LoanClosedEvent) {
        self.loans.remove(&event.book);
    }
}
