//! The key has the type of the row's key.

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

#[derive(Event)]
#[event(package = "com.example.tests")]
struct LoanOpenedEvent {
    book: String,
}

#[projection]
impl BookCopy {
    fn purchased(event: &BookPurchasedEvent) -> Self {
        Self { id: event.id }
    }

    #[key(book)]
    fn opened(self, _: &LoanOpenedEvent) -> Self {
        self
    }
}

fn main() {}
