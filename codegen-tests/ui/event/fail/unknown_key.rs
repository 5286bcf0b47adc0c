//! A key that does not exist.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", table = "books")]
struct BookPurchasedEvent {
    id: Uuid,
}

fn main() {}
