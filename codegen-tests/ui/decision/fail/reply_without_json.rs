//! An answer that cannot be sent.

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

struct Receipt;

#[handler]
fn purchase(command: PurchaseBookCommand) -> Decision<BookPurchasedEvent, Receipt> {
    Decision::new(BookPurchasedEvent { id: command.id }, Receipt)
}

fn main() {}
