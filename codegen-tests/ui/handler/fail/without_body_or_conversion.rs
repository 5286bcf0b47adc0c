//! A handler without a body whose event does not come from the command.

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

#[handler]
fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent;

fn main() {}
