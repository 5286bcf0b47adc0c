//! A reader cancels a reservation.

use es_framework::prelude::*;

use super::{EndReason, EndedReservation, end_reservation, title_of};
use crate::reader::Reader;

/// Cancels a reservation. A copy that is set aside for the reader goes to the next one.
///
/// Example: `{"reader": "0b6ef6a3-7d0e-4f5c-9a63-6a1b6d2f8c55", "isbn": "978-0-345-53943-1"}`
#[derive(Debug, Command)]
#[command(subject = "/readers/{reader}", path = "/books/cancel-reservation")]
#[command(role = ["reader", "staff"], owner = reader, owner_except = "staff")]
pub struct CancelReservationCommand {
    pub reader: Uuid,
    /// The ISBN of the title, in any spelling.
    #[validate(text(max = 32))]
    pub isbn: String,
}

/// The reason why a reservation is not cancelled.
#[derive(Debug, PartialEq, Rejection)]
pub enum CancellationError {
    /// The reader has not reserved the title
    #[rejection(conflict)]
    TitleNotReserved,
}

#[handler]
fn cancel(
    reader: &Reader,
    command: CancelReservationCommand,
) -> Result<EndedReservation, CancellationError> {
    let title = title_of(&command.isbn);
    let copy = reader.reservations.get(&title);
    let copy = copy.ok_or(CancellationError::TitleNotReserved)?;
    let reason = EndReason::Cancelled;
    Ok(end_reservation(command.reader, &title, reason, *copy))
}
