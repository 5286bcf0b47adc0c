//! A reader: its state and the events that change it.

mod find;
mod register;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use es_framework::prelude::*;

use crate::{
    loan::{LoanClosedEvent, LoanOpenedEvent},
    reservation::{ReservationClosedEvent, ReservationOpenedEvent, ReservationReadyEvent},
};

pub use register::ReaderRegisteredEvent;

/// The state of a reader.
#[derive(Debug, Default, PartialEq, State)]
pub struct Reader {
    /// The copies that the reader holds.
    pub loans: BTreeSet<Uuid>,
    /// The titles that the reader has reserved, each with the copy that is set aside.
    pub reservations: BTreeMap<String, Option<Uuid>>,
}

#[evolve]
impl Reader {
    fn registered(_: &ReaderRegisteredEvent) -> Self {
        Self::default()
    }

    fn loan_opened(&mut self, event: &LoanOpenedEvent) {
        self.loans.insert(event.book);
    }

    fn loan_closed(&mut self, event: &LoanClosedEvent) {
        self.loans.remove(&event.book);
    }

    fn reservation_opened(&mut self, event: &ReservationOpenedEvent) {
        self.reservations.insert(event.title.clone(), None);
    }

    fn reservation_ready(&mut self, event: &ReservationReadyEvent) {
        self.reservations
            .insert(event.title.clone(), Some(event.copy));
    }

    fn reservation_closed(&mut self, event: &ReservationClosedEvent) {
        self.reservations.remove(&event.title);
    }
}
