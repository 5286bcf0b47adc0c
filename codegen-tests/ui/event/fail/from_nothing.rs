//! No command.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    num_pages: u32,
}

#[derive(Event)]
#[event(package = "com.example.library", from())]
struct BookPurchasedEvent {
    id: Uuid,
}

#[handler]
fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent {
    BookPurchasedEvent { id: command.id }
}

fn main() {}
