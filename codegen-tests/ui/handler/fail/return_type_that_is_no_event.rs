//! A decision on something else.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
}

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {
    id: Uuid,
}

struct Receipt;

#[handler]
fn purchase(_: PurchaseBookCommand) -> Receipt {
    Receipt
}

fn main() {}
