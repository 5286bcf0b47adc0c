//! A field that is no column.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", read_model = "books")]
struct BookPurchasedEvent {
    id: Uuid,
    tags: std::time::Duration,
}

fn main() {}
