//! A reaction has no generic parameters.

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

struct LoanReminder<T>(T);

#[reaction]
impl<T: Send + Sync + 'static> LoanReminder<T> {
    fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
        RemindReaderCommand { id: event.id }
    }
}

fn main() {}
