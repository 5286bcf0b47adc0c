//! A length that is no number of characters.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(text(max = 1.5))]
    value: String,
}

fn main() {}
