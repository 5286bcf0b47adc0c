//! A name in the wrong place.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
#[serde(rename = "Bought")]
struct BookPurchasedEvent {
    id: Uuid,
}

fn main() {}
