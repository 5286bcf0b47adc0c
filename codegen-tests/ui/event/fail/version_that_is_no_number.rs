//! A version that is a text.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", version = "v2")]
struct BookPurchasedEvent {
    id: Uuid,
}

fn main() {}
