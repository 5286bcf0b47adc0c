//! A version that is not said.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", version)]
struct BookPurchasedEvent {
    id: Uuid,
}

fn main() {}
