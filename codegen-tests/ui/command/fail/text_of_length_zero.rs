//! A text that cannot be.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(text(max = 0))]
    value: String,
}

fn main() {}
