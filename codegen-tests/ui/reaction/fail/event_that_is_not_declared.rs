//! The first parameter is a declared event.

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

struct Loan {
    id: Uuid,
}

struct LoanReminder;

#[reaction]
impl LoanReminder {
    fn remind(event: &Loan) -> RemindReaderCommand {
        RemindReaderCommand { id: event.id }
    }
}

fn main() {}
