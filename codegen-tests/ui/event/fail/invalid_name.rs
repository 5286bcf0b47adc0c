//! A name that no type has.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", name = "Book purchased")]
struct BookPurchasedEvent {
    id: Uuid,
}

fn main() {}
