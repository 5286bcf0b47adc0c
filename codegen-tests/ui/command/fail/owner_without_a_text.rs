//! The owner is a value without a text.

use es_framework::prelude::*;

#[derive(Debug, Clone, PartialEq, Value)]
pub struct Person {
    pub name: String,
}

#[derive(Command)]
#[command(subject = "/books/{id}", role = "reader", owner = reader)]
pub struct BorrowBookCommand {
    pub id: Uuid,
    pub reader: Person,
}

#[derive(Event)]
#[event(package = "com.example.library")]
pub struct BookBorrowedEvent {}

#[handler]
fn borrow(_: BorrowBookCommand) -> BookBorrowedEvent {
    BookBorrowedEvent {}
}

fn main() {}
