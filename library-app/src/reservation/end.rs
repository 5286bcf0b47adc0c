//! A reservation ends: its reader borrows a copy, cancels it, or does not come in time.

use es_framework::prelude::*;

use super::{
    CopyPutBackEvent, CopyTitle, EndReason, ReservationClosedEvent, ReservationEndedEvent,
};
use crate::reader::Reader;

/// The events that end a reservation.
pub type EndedReservation = (
    ReservationEndedEvent,
    ReservationClosedEvent,
    Option<CopyPutBackEvent>,
);

/// The events of a loan by which a reservation ends, if the reader has one of this title.
pub type FulfilledReservation = Option<EndedReservation>;

/// Ends the reservation of a reader who borrows a copy of its title.
pub fn fulfil_reservation(
    state: &Reader,
    copy: &CopyTitle,
    reader: Uuid,
    id: Uuid,
) -> FulfilledReservation {
    let set_aside = state.reservations.get(&copy.title)?;
    let free = set_aside.filter(|set_aside| *set_aside != id);
    Some(end_reservation(
        reader,
        &copy.title,
        EndReason::Borrowed,
        free,
    ))
}

/// Ends the reservation of a reader. The copy that was set aside for them, if they do not take it, is free.
pub fn end_reservation(
    reader: Uuid,
    title: &str,
    reason: EndReason,
    free: Option<Uuid>,
) -> EndedReservation {
    let title = title.to_owned();
    let ended = ReservationEndedEvent {
        title: title.clone(),
        reader,
        reason,
    };
    let closed = ReservationClosedEvent { reader, title };
    let put_back = free.map(|id| CopyPutBackEvent { id, reader });
    (ended, closed, put_back)
}
