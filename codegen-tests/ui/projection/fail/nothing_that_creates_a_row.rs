//! A projection without a function that creates a row would leave its table empty.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookBorrowedEvent {
    id: Uuid,
}

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookRemovedEvent {
    id: Uuid,
}

#[derive(ReadModel)]
#[read_model(table = "book_copies", subject = "/books/{id}")]
struct BookCopy {
    #[key]
    id: Uuid,
    loans: i64,
}

#[projection]
impl BookCopy {
    fn borrowed(&mut self, _: &BookBorrowedEvent) {
        self.loans += 1;
    }

    fn removed(self, _: &BookRemovedEvent) -> Option<Self> {
        None
    }
}

fn main() {}
