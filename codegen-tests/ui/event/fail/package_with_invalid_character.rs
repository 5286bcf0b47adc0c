//! A character that no type has.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.exämple.library")]
struct BookPurchasedEvent {
    id: Uuid,
}

fn main() {}
