//! The mode has a value.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookPurchasedEvent {
    id: Uuid,
}

#[derive(ReadModel)]
#[read_model(table = "book_copies", subject = "/books/{id}", inline = 3)]
struct BookCopy {
    #[key]
    id: Uuid,
}

#[projection]
impl BookCopy {
    fn purchased(event: &BookPurchasedEvent) -> Self {
        BookCopy::of(event.id)
    }
}

impl BookCopy {
    fn of(_: Uuid) -> Self {
        unimplemented!()
    }
}

fn main() {}
