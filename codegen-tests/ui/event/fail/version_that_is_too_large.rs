//! A version that nobody reaches.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", version = 5000000000)]
struct BookPurchasedEvent {
    id: Uuid,
}

fn main() {}
