//! A copy in stock: one row for each, folded from the copy's events.

use es_framework::prelude::*;

use crate::book::BookPurchasedEvent;

/// A copy of a book.
#[derive(ReadModel)]
#[read_model(table = "book_copies", subject = "/books/{id}")]
pub struct BookCopy {
    #[key]
    pub id: Uuid,
    pub isbn: String,
    pub title: String,
    pub author: String,
    pub num_pages: i64,
}

#[projection]
impl BookCopy {
    fn purchased(event: BookPurchasedEvent) -> Self {
        Self {
            id: event.id,
            isbn: event.isbn,
            title: event.title,
            author: event.author,
            num_pages: event.num_pages,
        }
    }
}
