//! The code names nothing that an application could have named otherwise.

#![deny(warnings)]
#![allow(missing_docs, reason = "it is compiled, not read")]

use es_framework::prelude::{
    Command, Event, ReactionKey, RecordedEvent, Timestamp, Uuid, handler, reaction,
};

/// Names of the standard library.
pub struct Option;
/// Names of the standard library.
pub struct Vec;
/// Names of the standard library.
pub struct Result;
/// Names of the standard library.
pub struct Ok;
/// Names of the standard library.
pub struct Some;

#[derive(Event)]
#[event(package = "com.example.tests")]
pub struct BookBorrowedEvent {
    pub id: Uuid,
    pub due_at: Timestamp,
}

#[derive(Event)]
#[event(package = "com.example.tests")]
pub struct BookReturnedEvent {}

#[derive(Command)]
#[command(subject = "/books/{id}", internal)]
pub struct RemindReaderCommand {
    pub id: Uuid,
}

#[derive(Event)]
#[event(package = "com.example.tests")]
pub struct ReaderRemindedEvent {}

#[handler]
fn remind(_: RemindReaderCommand) -> ReaderRemindedEvent {
    ReaderRemindedEvent {}
}

pub struct LoanReminder;

#[reaction(name = "Reminder", begin = new, attempts = 3)]
impl LoanReminder {
    #[deadline(at = due_at, unless(BookReturnedEvent))]
    fn remind(event: BookBorrowedEvent) -> RemindReaderCommand {
        RemindReaderCommand { id: event.id }
    }

    #[deadline(at = due_at - 24h)]
    fn remind_before(event: &BookBorrowedEvent) -> RemindReaderCommand {
        RemindReaderCommand { id: event.id }
    }

    async fn log(
        _: &BookBorrowedEvent,
        _: &RecordedEvent,
    ) -> core::result::Result<(), std::io::Error> {
        core::result::Result::Ok(())
    }

    async fn mail(
        event: &BookBorrowedEvent,
        key: &ReactionKey,
    ) -> core::result::Result<(), std::io::Error> {
        let _ = (event, key);
        core::result::Result::Ok(())
    }
}
