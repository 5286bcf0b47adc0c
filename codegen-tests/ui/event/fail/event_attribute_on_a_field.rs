//! An attribute of the struct on a field.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {
    #[event(name = "x")]
    isbn: String,
}

fn main() {}
