//! A pattern that is no text.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(pattern(9))]
    value: String,
}

fn main() {}
