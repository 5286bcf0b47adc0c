//! The framework calls functions of Rust.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookPurchasedEvent {
    id: Uuid,
}

#[derive(ReadModel)]
#[read_model(table = "book_copies", subject = "/books/{id}")]
struct BookCopy {
    #[key]
    id: Uuid,
}

#[projection]
impl BookCopy {
    extern "C" fn purchased(event: &BookPurchasedEvent) -> Self {
        Self { id: event.id }
    }
}

fn main() {}
