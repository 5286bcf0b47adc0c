//! A rule for what has happened.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {
    #[validate(text(max = 32))]
    isbn: String,
}

fn main() {}
