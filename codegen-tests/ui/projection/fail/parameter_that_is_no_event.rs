//! A step follows from an event.

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

struct Purchase {
    id: Uuid,
}

#[projection]
impl BookCopy {
    fn purchased(event: &Purchase) -> Self {
        Self { id: event.id }
    }
}

fn main() {}
