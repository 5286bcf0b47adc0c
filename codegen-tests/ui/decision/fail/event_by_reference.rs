//! A decision is handed over.

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

#[handler]
fn purchase(command: PurchaseBookCommand) -> &'static BookPurchasedEvent {
    Box::leak(Box::new(BookPurchasedEvent { id: command.id }))
}

fn main() {}
