//! A text that is longer than it may be.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(text(min = 9, max = 8))]
    value: String,
}

fn main() {}
