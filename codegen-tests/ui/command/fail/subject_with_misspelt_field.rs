//! A field that is spelt otherwise.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{isbm}")]
struct PurchaseBookCommand {
    isbn: String,
    title: String,
}

fn main() {}
