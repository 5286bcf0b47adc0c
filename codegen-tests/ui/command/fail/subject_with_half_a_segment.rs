//! A field that shares its segment.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/book-{id}")]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
