//! A handler whose error is no rejection.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct BorrowBookCommand {
    id: Uuid,
}

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookBorrowedEvent {}

#[derive(Debug)]
enum LendingError {}

#[handler]
fn borrow(_: BorrowBookCommand) -> Result<BookBorrowedEvent, LendingError> {
    Ok(BookBorrowedEvent {})
}

fn main() {}
