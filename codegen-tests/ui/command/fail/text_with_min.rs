//! A key that the rule does not have.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(text(min = 1, max = 9))]
    value: String,
}

fn main() {}
