//! A subject that has to be pristine has no state.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {
    id: Uuid,
}

#[derive(Command)]
#[command(subject = "/books/{id}", condition = pristine)]
struct PurchaseBookCommand {
    id: Uuid,
}

#[derive(State)]
struct Book {
    copies: u32,
}

#[evolve]
impl Book {
    fn purchased(_: &BookPurchasedEvent) -> Self {
        Self { copies: 1 }
    }
}

#[handler]
fn purchase(_book: &Book, command: PurchaseBookCommand) -> BookPurchasedEvent {
    BookPurchasedEvent { id: command.id }
}

fn main() {}
