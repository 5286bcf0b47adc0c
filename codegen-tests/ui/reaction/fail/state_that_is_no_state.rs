//! A function that sends commands takes states, and a state has a subject that the event names.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookBorrowedEvent {
    id: Uuid,
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

struct Book;

struct LoanReminder;

#[reaction]
impl LoanReminder {
    fn remind(event: &BookBorrowedEvent, book: &Book) -> RemindReaderCommand {
        let _ = book;
        RemindReaderCommand { id: event.id }
    }
}

fn main() {}
