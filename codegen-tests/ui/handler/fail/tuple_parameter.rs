//! A parameter that is no struct.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {
    id: Uuid,
}

#[handler]
fn purchase(pair: (Uuid, String)) -> BookPurchasedEvent {
    BookPurchasedEvent { id: pair.0 }
}

fn main() {}
