//! A field that some callers do not see has to be an `Option`, and an alias of a time is no owner id.

use es_framework::prelude::*;

type Moment = Timestamp;

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
    bought_at: Moment,
    #[visible(role = "staff")]
    price: i64,
    #[visible(owner = bought_at)]
    reader: Option<Uuid>,
}

#[projection]
impl BookCopy {
    fn purchased(event: &BookPurchasedEvent) -> Self {
        Self { id: event.id, bought_at: Timestamp::UNIX_EPOCH, price: 1, reader: None }
    }
}

fn main() {}
