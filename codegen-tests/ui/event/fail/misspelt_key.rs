//! A key that is spelt otherwise.

use es_framework::prelude::*;

#[derive(Event)]
#[event(packge = "com.example.library")]
struct BookPurchasedEvent {
    id: Uuid,
}

fn main() {}
