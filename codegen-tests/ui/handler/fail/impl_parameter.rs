//! A command that has no name.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {
    id: Uuid,
}

#[handler]
fn purchase(command: impl Command) -> BookPurchasedEvent {
    drop(command);
    BookPurchasedEvent { id: Uuid::nil() }
}

fn main() {}
