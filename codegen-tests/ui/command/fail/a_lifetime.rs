//! A command that borrows.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{isbn}")]
struct PurchaseBookCommand<'a> {
    isbn: std::borrow::Cow<'a, str>,
}

fn main() {}
