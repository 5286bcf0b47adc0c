//! All mistakes are told at once.

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

#[projection(now)]
impl BookCopy {
    async fn purchased(event: &BookPurchasedEvent) -> Uuid {
        event.id
    }
}

fn main() {}
