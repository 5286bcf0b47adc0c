//! Clients sort by a column without an order.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookPurchasedEvent {
    id: Uuid,
    title: String,
}

#[derive(ReadModel)]
#[read_model(table = "book_copies", subject = "/books/{id}")]
struct BookCopy {
    #[key]
    id: Uuid,
    title: String,
    tags: Vec<String>,
}

#[projection]
impl BookCopy {
    fn purchased(event: &BookPurchasedEvent) -> Self {
        Self { id: event.id, title: event.title.clone(), tags: vec![] }
    }
}

#[derive(Query)]
#[query(path = "/books", rows = BookCopy, sort = [title, tags])]
struct BrowseStock {}

fn main() {}
