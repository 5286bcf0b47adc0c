//! A parameter that is not supported yet.

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

struct Clock;

#[handler]
fn purchase(command: PurchaseBookCommand, clock: &Clock) -> BookPurchasedEvent {
    BookPurchasedEvent { id: command.id }
}

fn main() {}
