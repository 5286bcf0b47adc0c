//! A field that borrows.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {
    isbn: &'static str,
}

fn main() {}
