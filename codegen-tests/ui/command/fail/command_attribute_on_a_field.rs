//! An attribute of the struct on a field.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    #[command(path = "/books/buy")]
    id: String,
}

fn main() {}
