//! A rule that holds for every list.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(items())]
    value: Vec<String>,
}

fn main() {}
