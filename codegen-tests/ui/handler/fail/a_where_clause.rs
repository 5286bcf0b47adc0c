//! A handler is one function, which is always there.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct BorrowBookCommand {
    id: Uuid,
}

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookBorrowedEvent {
    id: Uuid,
}

#[handler]
fn borrow(command: BorrowBookCommand) -> BookBorrowedEvent
where
    u8: Copy,
{
    BookBorrowedEvent { id: command.id }
}

fn main() {}
