//! A state that there may be belongs to the framework as well.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {
    id: Uuid,
}

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    reader: Uuid,
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
fn purchase(command: PurchaseBookCommand, _book: Option<Book>) -> BookPurchasedEvent {
    BookPurchasedEvent { id: command.id }
}

fn main() {}
