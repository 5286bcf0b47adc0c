//! An end that is no number.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(range(min = "a"))]
    value: String,
}

fn main() {}
