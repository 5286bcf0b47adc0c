//! A service with a mistake that compiles: the second state of a handler has no `#[subject(…)]`, so there
//! is never such a state. `tests/declarations/start_checks.rs` reads why it does not start.

#![allow(missing_docs, reason = "the tests are what it is for")]

use es_framework::{App, prelude::*};

#[derive(Command)]
#[command(subject = "/books/{id}", condition = pristine)]
pub struct PurchaseBookCommand {
    pub id: Uuid,
}

#[derive(Event)]
#[event(from = PurchaseBookCommand)]
pub struct BookPurchasedEvent {}

#[handler]
fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent {
    command.into()
}

#[derive(Command)]
#[command(subject = "/readers/{id}", condition = pristine)]
pub struct RegisterReaderCommand {
    pub id: Uuid,
}

#[derive(Event)]
pub struct ReaderRegisteredEvent {}

#[handler]
fn register(_: RegisterReaderCommand) -> ReaderRegisteredEvent {
    ReaderRegisteredEvent {}
}

#[derive(State)]
pub struct Book {}

#[evolve]
impl Book {
    fn purchased(_: &BookPurchasedEvent) -> Self {
        Self {}
    }
}

#[derive(State)]
pub struct Reader {}

#[evolve]
impl Reader {
    fn registered(_: &ReaderRegisteredEvent) -> Self {
        Self {}
    }
}

#[derive(Command)]
#[command(subject = "/books/{id}")]
pub struct BorrowBookCommand {
    pub id: Uuid,
    pub reader: Uuid,
}

#[derive(Event)]
pub struct BookBorrowedEvent {}

#[handler]
fn borrow(_book: &Book, _reader: &Reader, _: BorrowBookCommand) -> BookBorrowedEvent {
    BookBorrowedEvent {}
}

fn main() -> es_framework::Result<()> {
    App::new("forgetful").run()
}
