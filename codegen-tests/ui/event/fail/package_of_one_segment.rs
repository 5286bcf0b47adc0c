//! A package that is too short.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "library")]
struct BookPurchasedEvent {
    id: Uuid,
}

fn main() {}
