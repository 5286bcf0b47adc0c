//! An enum with data is no column, and neither is a struct, nor an enum without JSON.

use es_framework::prelude::*;

#[derive(Value)]
enum Holder {
    Reader { id: Uuid },
    Nobody,
}

struct Shelf {
    row: u32,
}

enum Status {
    Available,
}

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
    holder: Holder,
    shelf: Shelf,
    status: Option<Status>,
    statuses: Vec<Status>,
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
