//! A number for the first version.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", version = 1)]
struct BookPurchasedEvent {
    id: Uuid,
}

fn main() {}
