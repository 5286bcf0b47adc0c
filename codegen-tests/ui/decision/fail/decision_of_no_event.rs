//! A decision on something else than an event.

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
fn purchase(command: PurchaseBookCommand) -> Decision<Uuid, Uuid> {
    Decision::new(command.id, command.id)
}

fn main() {}
