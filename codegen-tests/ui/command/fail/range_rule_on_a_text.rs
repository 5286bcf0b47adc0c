//! A rule for numbers on a text.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(range(min = 1))]
    value: String,
}

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {}

#[handler]
fn purchase(_: PurchaseBookCommand) -> BookPurchasedEvent {
    BookPurchasedEvent {}
}

fn main() {}
