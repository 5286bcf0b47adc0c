//! A struct that is no command.

use es_framework::prelude::*;

struct Book {
    id: Uuid,
}

#[derive(Event)]
#[event(package = "com.example.library", from = Book)]
struct BookPurchasedEvent {
    id: Uuid,
    title: String,
}

fn main() {}
