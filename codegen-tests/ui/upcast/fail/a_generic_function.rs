//! An upcaster with a type parameter.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", name = "BookPurchasedEvent")]
struct BookPurchasedV1 {
    pages: String,
}

#[derive(Event)]
#[event(package = "com.example.library", version = 2)]
struct BookPurchasedEvent {
    pages: u32,
}

#[upcast]
fn pages_became_a_number<T>(_: BookPurchasedV1) -> BookPurchasedEvent {
    BookPurchasedEvent { pages: 0 }
}

fn main() {}
