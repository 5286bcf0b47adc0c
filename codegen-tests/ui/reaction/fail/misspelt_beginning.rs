//! A reaction begins with the first event or with a new one.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookBorrowedEvent {
    id: Uuid,
    due_at: Timestamp,
}

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

#[reaction(begin = now)]
impl LoanReminder {
    fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
        RemindReaderCommand { id: event.id }
    }
}

fn main() {}
