//! A crate without a name for its events.

use es_framework::prelude::*;

#[derive(Event)]
struct BookPurchasedEvent {
    id: Uuid,
}

fn main() {}
