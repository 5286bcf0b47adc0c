//! A copy that nobody fetches in time is for the next reader.

use es_framework::prelude::*;

use super::{
    CopyPutBackEvent, CopySetAsideEvent, CopyTitle, EndReason, EndedReservation, end_reservation,
};
use crate::book::{Book, BookBorrowedEvent, BookRemovedEvent};

/// Ends the reservation of a reader who has not fetched a copy.
#[derive(Debug, PartialEq, Command)]
#[command(subject = "/books/{id}", internal)]
pub struct LetHoldLapseCommand {
    pub id: Uuid,
    pub until: Timestamp,
}

/// Waits for the reader of a copy that is set aside.
pub struct HoldTimer;

#[reaction(repeats)]
impl HoldTimer {
    #[deadline(at = until, unless(BookBorrowedEvent, BookRemovedEvent, CopyPutBackEvent))]
    fn lapse(event: &CopySetAsideEvent) -> LetHoldLapseCommand {
        let CopySetAsideEvent { id, until, .. } = *event;
        LetHoldLapseCommand { id, until }
    }
}

/// Puts the copy back, unless the reader came or it is set aside for another one by now.
#[handler]
fn let_hold_lapse(
    book: &Book,
    copy: &CopyTitle,
    command: LetHoldLapseCommand,
) -> Option<EndedReservation> {
    let reader = match *book {
        Book::SetAside { reader, until } if until == command.until => reader,
        _ => return None,
    };
    let (reason, free) = (EndReason::Lapsed, Some(command.id));
    Some(end_reservation(reader, &copy.title, reason, free))
}
