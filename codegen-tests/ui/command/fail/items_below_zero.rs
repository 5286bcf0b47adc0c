//! A number of items that no list has.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(items(max = -1))]
    value: Vec<String>,
}

fn main() {}
