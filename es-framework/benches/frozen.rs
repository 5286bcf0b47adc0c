//! The application that the benchmark `purchase` measures beside the library: one command, one read model without a
//! search, and one reaction. It is frozen: the library grows, and its figures with it, but figures of this program
//! differ only as far as the framework does.

#![allow(clippy::unwrap_used, reason = "a benchmark may fail by panicking")]

use es_framework::prelude::*;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Adds a copy of a book.
#[derive(Command)]
#[command(subject = "/books/{id}", condition = pristine)]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(text(max = 32))]
    isbn: String,
    #[validate(text(max = 500))]
    title: String,
    #[validate(text(max = 500))]
    author: String,
    #[validate(range(min = 1))]
    num_pages: i64,
}

/// A copy of a book was added.
#[derive(Event)]
#[event(package = "com.example.bench", from = PurchaseBookCommand)]
struct BookPurchasedEvent {
    id: Uuid,
    isbn: String,
    title: String,
    author: String,
    num_pages: i64,
}

#[handler]
fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent;

/// A copy as clients see it.
#[derive(ReadModel)]
#[read_model(table = "books", subject = "/books/{id}")]
struct BookRow {
    #[key]
    id: Uuid,
    isbn: String,
    title: String,
    author: String,
    num_pages: i64,
}

#[projection]
impl BookRow {
    fn purchased(event: BookPurchasedEvent) -> Self {
        let BookPurchasedEvent {
            id,
            isbn,
            title,
            author,
            num_pages,
        } = event;
        Self {
            id,
            isbn,
            title,
            author,
            num_pages,
        }
    }
}

/// Answers one copy.
#[derive(Query)]
#[query(path = "/books/{id}", row = BookRow)]
struct FindBook {
    id: Uuid,
}

/// Looks at each purchase. It sends nothing, because a book has a page.
struct EmptyBookReplacer;

#[reaction]
impl EmptyBookReplacer {
    fn replace(event: &BookPurchasedEvent) -> Option<PurchaseBookCommand> {
        (event.num_pages == 0).then(|| PurchaseBookCommand {
            id: Uuid::nil(),
            isbn: event.isbn.clone(),
            title: event.title.clone(),
            author: event.author.clone(),
            num_pages: 1,
        })
    }
}

fn main() {
    es_framework::App::new("frozen-service").run().unwrap();
}
