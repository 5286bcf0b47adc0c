//! An end that the number cannot have.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(range(min = 1.5))]
    value: i64,
}

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {}

#[handler]
fn purchase(_: PurchaseBookCommand) -> BookPurchasedEvent {
    BookPurchasedEvent {}
}

fn main() {}
