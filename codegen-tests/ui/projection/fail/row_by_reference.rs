//! A row that is only looked at does not change.

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
    fn purchased(&self, _: &BookPurchasedEvent) {}
}

fn main() {}
