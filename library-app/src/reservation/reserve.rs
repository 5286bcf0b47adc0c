//! A reader reserves a title.

use es_framework::prelude::*;

use super::{CopyTitle, ReservationError, ReservationOpenedEvent, TitleReservedEvent};
use crate::{book::Book, lending::LendingRules, reader::Reader};

/// Reserves the title of a copy that is lent or set aside. The reader gets the first copy of this title that comes back
/// when nobody waits longer.
///
/// Example: `{"id": "5f0c8b1e-6c1d-4c39-9a6e-3f4b7a0d2c11",
/// "reader": "0b6ef6a3-7d0e-4f5c-9a63-6a1b6d2f8c55"}`
#[derive(Debug, Command)]
#[command(subject = "/books/{id}")]
#[command(role = ["reader", "staff"], owner = reader, owner_except = "staff")]
pub struct ReserveTitleCommand {
    pub id: Uuid,
    pub reader: Uuid,
}

#[handler]
fn reserve(
    book: &Book,
    copy: &CopyTitle,
    #[subject("/readers/{reader}")] state: &Reader,
    command: ReserveTitleCommand,
    lending: &LendingRules,
) -> Result<(TitleReservedEvent, ReservationOpenedEvent), ReservationError> {
    let (reader, title) = (command.reader, copy.title.clone());
    match *book {
        Book::Available => return Err(ReservationError::CopyAvailable),
        Book::Removed => return Err(ReservationError::CopyRemoved),
        Book::Lent { reader: holder, .. } if holder == reader => {
            return Err(ReservationError::CopyLentToReader);
        }
        Book::Lent { .. } | Book::SetAside { .. } => {}
    }
    if title.is_empty() {
        return Err(ReservationError::NoTitle);
    }
    if state.reservations.contains_key(&title) {
        return Err(ReservationError::TitleReserved);
    }
    if !lending.allow_reservation(state) {
        let limit = lending.reservation_limit;
        return Err(ReservationError::ReservationLimitReached { limit });
    }
    let opened = ReservationOpenedEvent {
        reader,
        title: title.clone(),
    };
    Ok((TitleReservedEvent { title, reader }, opened))
}
