//! A rule that is spelt otherwise.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(txt(max = 32))]
    value: String,
}

fn main() {}
