//! The command of a reaction has a handler.

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

struct LoanReminder;

#[reaction]
impl LoanReminder {
    fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
        RemindReaderCommand { id: event.id }
    }
}

fn main() {}
