//! A name that no table has.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", read_model = "Books")]
struct BookPurchasedEvent {
    id: Uuid,
}

fn main() {}
