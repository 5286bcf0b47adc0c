//! A value of the wrong type.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = com.example.library)]
struct BookPurchasedEvent {
    id: Uuid,
}

fn main() {}
