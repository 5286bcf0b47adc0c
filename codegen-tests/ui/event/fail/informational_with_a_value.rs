//! A flag with a value.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", informational = true)]
struct BookPurchasedEvent {
    id: Uuid,
}

fn main() {}
