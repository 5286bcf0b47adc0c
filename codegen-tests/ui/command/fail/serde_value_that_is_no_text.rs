//! A value of the wrong type.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[serde(default = 1)]
    value: String,
}

fn main() {}
