//! Reservations: readers wait for a title, and a copy that comes back is set aside for the first of them.

mod cancel;
mod end;
mod error;
mod events;
mod fetch_list;
mod hold;
mod lapse;
mod public_events;
mod queue;
#[cfg(test)]
mod random_readers;
mod reader_reservations;
mod reserve;
#[cfg(test)]
mod tests;

use es_framework::prelude::*;

use crate::book::BookPurchasedEvent;

pub use end::{EndedReservation, FulfilledReservation, end_reservation, fulfil_reservation};
pub use error::ReservationError;
pub use events::{
    CopyHeldEvent, CopyPutBackEvent, CopySetAsideEvent, EndReason, HoldWithdrawnEvent,
    ReservationClosedEvent, ReservationEndedEvent, ReservationOpenedEvent, ReservationReadyEvent,
    TitleReservedEvent,
};

/// Returns the title of an ISBN: its letters and digits, so that all spellings are one title.
pub fn title_of(isbn: &str) -> String {
    let letters_and_digits = isbn.chars().filter(char::is_ascii_alphanumeric);
    letters_and_digits.collect::<String>().to_ascii_uppercase()
}

/// The title of a copy.
#[derive(Debug, PartialEq, State)]
pub struct CopyTitle {
    pub title: String,
}

#[evolve]
impl CopyTitle {
    fn purchased(event: &BookPurchasedEvent) -> Self {
        let title = title_of(&event.isbn);
        Self { title }
    }
}
