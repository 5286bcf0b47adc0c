//! A path that does not start with a slash.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}", path = "books/purchase")]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
