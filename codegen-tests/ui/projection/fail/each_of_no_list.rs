//! The event's field is no list of the elements that the function takes.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BooksDeliveredEvent {
    books: Vec<String>,
    shelf: Uuid,
}

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BooksMovedEvent {
    book: Uuid,
}

#[derive(ReadModel)]
#[read_model(table = "book_copies")]
struct BookCopy {
    #[key]
    id: Uuid,
}

#[projection]
impl BookCopy {
    #[each(books)]
    fn delivered(book: &Uuid, _: &BooksDeliveredEvent) -> Self {
        Self { id: *book }
    }

    #[each(book)]
    fn moved(&mut self, _: &Uuid, _: &BooksMovedEvent) {}
}

fn main() {}
