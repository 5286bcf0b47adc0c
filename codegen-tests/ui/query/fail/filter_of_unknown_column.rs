//! The row has no such field.

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
}

#[projection]
impl BookCopy {
    fn purchased(event: &BookPurchasedEvent) -> Self {
        Self { id: event.id, title: event.title.clone() }
    }
}

#[derive(Query)]
#[query(path = "/books", rows = BookCopy)]
struct BrowseStock {
    #[filter(eq)]
    titel: Option<String>,
    #[filter(eq)]
    kind: Option<String>,
}

fn main() {}
