//! Characters that are not written out.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(characters(digits))]
    value: String,
}

fn main() {}
