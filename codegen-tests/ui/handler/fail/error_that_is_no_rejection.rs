//! A refusal that says nothing.

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
fn purchase(command: PurchaseBookCommand) -> Result<BookPurchasedEvent, String> {
    Ok(BookPurchasedEvent { id: command.id })
}

fn main() {}
