//! The attribute on a struct.

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
struct PagesBecameANumber;

fn main() {}
