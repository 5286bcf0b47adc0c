//! Staff remove a damaged copy.

use es_framework::prelude::*;

use super::Book;
use crate::reservation::{CopyTitle, HoldWithdrawnEvent, ReservationOpenedEvent};

/// Takes a damaged copy out of the inventory. A reader for whom it is set aside waits again, in the old place
/// of the queue.
///
/// Example: `{"id": "5f0c8b1e-6c1d-4c39-9a6e-3f4b7a0d2c11", "reason": "Pages are missing."}`
#[derive(Command)]
#[command(subject = "/books/{id}", role = "staff")]
pub struct RemoveBookCommand {
    pub id: Uuid,
    #[validate(text(max = 500))]
    pub reason: String,
}

/// A copy was taken out of the inventory.
#[derive(Debug, PartialEq, Event)]
#[event(from = RemoveBookCommand)]
pub struct BookRemovedEvent {
    pub id: Uuid,
    pub reason: String,
}

/// The reasons why a copy is not removed.
#[derive(Debug, PartialEq, Rejection)]
pub enum RemoveError {
    /// The copy is lent
    #[rejection(conflict, detail = "the copy is lent until {due_at}")]
    CopyLent { due_at: Timestamp },
    /// The copy was removed from the inventory
    #[rejection(gone)]
    CopyRemoved,
}

/// The events of a reader whose copy is removed.
type WithdrawnHold = (HoldWithdrawnEvent, ReservationOpenedEvent);

#[handler]
fn remove(
    book: &Book,
    copy: &CopyTitle,
    command: RemoveBookCommand,
) -> Result<(BookRemovedEvent, Option<WithdrawnHold>), RemoveError> {
    let withdrawn = match *book {
        Book::Available => None,
        Book::SetAside { reader, .. } => Some(withdraw(reader, copy, command.id)),
        Book::Lent { due_at, .. } => return Err(RemoveError::CopyLent { due_at }),
        Book::Removed => return Err(RemoveError::CopyRemoved),
    };
    Ok((command.into(), withdrawn))
}

/// Lets the reader wait again for whom the copy was set aside.
fn withdraw(reader: Uuid, copy: &CopyTitle, id: Uuid) -> WithdrawnHold {
    let title = || copy.title.clone();
    let withdrawn = HoldWithdrawnEvent {
        title: title(),
        reader,
        copy: id,
    };
    let opened = ReservationOpenedEvent {
        reader,
        title: title(),
    };
    (withdrawn, opened)
}
