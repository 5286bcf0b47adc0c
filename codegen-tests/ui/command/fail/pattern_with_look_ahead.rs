//! A pattern that cannot be matched in linear time.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(pattern("^(?=a)"))]
    value: String,
}

fn main() {}
