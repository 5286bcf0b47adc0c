//! A deadline names the time.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookBorrowedEvent {
    id: Uuid,
    due_at: Timestamp,
}

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookReturnedEvent {}

#[derive(Command)]
#[command(subject = "/books/{id}", internal)]
struct RemindReaderCommand {
    id: Uuid,
}

#[derive(Event)]
#[event(package = "com.example.tests")]
struct ReaderRemindedEvent {}

#[handler]
fn remind(_: RemindReaderCommand) -> ReaderRemindedEvent {
    ReaderRemindedEvent {}
}

struct LoanReminder;

#[reaction]
impl LoanReminder {
    #[deadline]
    fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
        RemindReaderCommand { id: event.id }
    }

    #[deadline(unless(BookReturnedEvent))]
    fn remind_again(event: &BookBorrowedEvent) -> RemindReaderCommand {
        RemindReaderCommand { id: event.id }
    }
}

fn main() {}
