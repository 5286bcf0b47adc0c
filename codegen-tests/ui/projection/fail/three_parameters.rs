//! A step takes an event and the stored one.

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
    fn purchased(event: &BookPurchasedEvent, _: &es_framework::event::RecordedEvent, _: i64) -> Self {
        Self { id: event.id }
    }
}

fn main() {}
