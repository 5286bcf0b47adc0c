//! A key that is given twice.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", package = "com.example.stock")]
struct BookPurchasedEvent {
    id: Uuid,
}

fn main() {}
