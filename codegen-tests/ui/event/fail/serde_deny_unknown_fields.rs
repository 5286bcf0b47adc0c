//! An event that cannot grow.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
#[serde(deny_unknown_fields)]
struct BookPurchasedEvent {
    id: Uuid,
}

fn main() {}
