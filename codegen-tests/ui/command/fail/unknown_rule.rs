//! A rule that does not exist.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(uuid)]
    value: String,
}

fn main() {}
