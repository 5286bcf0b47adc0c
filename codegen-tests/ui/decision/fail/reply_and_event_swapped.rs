//! The events come first.

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
}

#[derive(Value)]
struct Receipt {}

#[handler]
fn purchase(command: PurchaseBookCommand) -> Decision<Receipt, BookPurchasedEvent> {
    Decision::new(Receipt {}, BookPurchasedEvent { id: command.id })
}

fn main() {}
