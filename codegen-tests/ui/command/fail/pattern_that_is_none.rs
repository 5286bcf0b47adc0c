//! A pattern that is no regular expression.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(pattern("^[0-9"))]
    value: String,
}

fn main() {}
