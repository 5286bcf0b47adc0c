//! A decision on any command.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {
    id: Uuid,
}

#[handler]
fn purchase<C: Command>(command: C) -> BookPurchasedEvent {
    drop(command);
    BookPurchasedEvent { id: Uuid::nil() }
}

fn main() {}
