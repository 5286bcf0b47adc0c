//! A function in quotation marks.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(with = "is_sound")]
    value: String,
}

fn main() {}
