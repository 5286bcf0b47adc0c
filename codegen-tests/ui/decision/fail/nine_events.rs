//! More events than a tuple holds.

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
fn purchase(command: PurchaseBookCommand) -> (
    BookPurchasedEvent,
    BookPurchasedEvent,
    BookPurchasedEvent,
    BookPurchasedEvent,
    BookPurchasedEvent,
    BookPurchasedEvent,
    BookPurchasedEvent,
    BookPurchasedEvent,
    BookPurchasedEvent,
) {
    let event = || BookPurchasedEvent { id: command.id };
    let (a, b, c, d) = (event(), event(), event(), event());
    (a, b, c, d, event(), event(), event(), event(), event())
}

fn main() {}
