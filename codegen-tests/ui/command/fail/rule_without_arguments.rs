//! A rule that does not say what it asks.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(text)]
    value: String,
}

fn main() {}
