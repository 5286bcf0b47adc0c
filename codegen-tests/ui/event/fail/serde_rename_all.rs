//! Names on the wire are camelCase.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
#[serde(rename_all = "snake_case")]
struct BookPurchasedEvent {
    id: Uuid,
}

fn main() {}
