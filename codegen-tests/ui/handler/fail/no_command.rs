//! A decision on nothing.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {
    id: Uuid,
}

#[handler]
fn purchase() -> BookPurchasedEvent {
    BookPurchasedEvent { id: Uuid::nil() }
}

fn main() {}
