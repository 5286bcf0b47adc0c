//! A rule that stands there twice.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(text(max = 32), text(max = 64))]
    value: String,
}

fn main() {}
