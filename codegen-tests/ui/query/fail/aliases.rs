//! Aliases of types that hold another number of values.

use es_framework::prelude::*;

type Text = Option<String>;
type Texts = Vec<String>;
type Id = Option<Uuid>;

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
    #[filter(one_of(title))]
    title: Text,
    #[filter(eq(title))]
    titles: Texts,
}

#[derive(Query)]
#[query(path = "/copies/{id}", rows = BookCopy)]
struct BrowseCopies {
    id: Id,
}

fn main() {}
