//! The reasons why a title is not reserved.

use es_framework::prelude::*;

/// The reasons why a title is not reserved.
#[derive(Debug, PartialEq, Rejection)]
pub enum ReservationError {
    /// The copy is available
    #[rejection(conflict, detail = "the copy is available: borrow it")]
    CopyAvailable,
    /// The copy was removed from the inventory
    #[rejection(gone)]
    CopyRemoved,
    /// The reader has the copy
    #[rejection(conflict)]
    CopyLentToReader,
    /// The ISBN has no letters and digits, so it names no title
    #[rejection(conflict)]
    NoTitle,
    /// The reader has reserved the title already
    #[rejection(conflict)]
    TitleReserved,
    /// The reader has as many reservations as allowed
    #[rejection(
        conflict,
        detail = "the reader has {limit} reservations already, and may have no more"
    )]
    ReservationLimitReached { limit: u32 },
}
