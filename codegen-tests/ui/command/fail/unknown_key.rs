//! A key that does not exist.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}", table = "books")]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
