//! A name that no column has.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", read_model = "books")]
struct BookPurchasedEvent {
    #[serde(rename = "größe")]
    größe: i64,
}

fn main() {}
