//! A function that is not declared.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(with = is_sound)]
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
