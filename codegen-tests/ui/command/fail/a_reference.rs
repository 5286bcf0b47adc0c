//! A field that borrows.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{isbn}")]
struct PurchaseBookCommand {
    isbn: &'static str,
}

fn main() {}
