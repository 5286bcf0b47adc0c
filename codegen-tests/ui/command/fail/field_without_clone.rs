//! A field of a command has a type that is not `Clone`.

use es_framework::prelude::*;

#[derive(Value)]
struct Price {
    cents: i64,
}

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    price: Price,
}

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookPurchasedEvent {}

#[handler]
fn purchase(_command: PurchaseBookCommand) -> BookPurchasedEvent {
    BookPurchasedEvent {}
}

fn main() {}
