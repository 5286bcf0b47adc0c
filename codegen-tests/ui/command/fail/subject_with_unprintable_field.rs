//! A field that has no text form.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{pages}")]
struct PurchaseBookCommand {
    pages: Vec<u8>,
}

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {}

#[handler]
fn purchase(_: PurchaseBookCommand) -> BookPurchasedEvent {
    BookPurchasedEvent {}
}

fn main() {}
