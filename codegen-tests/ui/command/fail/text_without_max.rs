//! A text of any length.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(text())]
    value: String,
}

fn main() {}
