//! A key that serde does not have.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[serde(renam = "a")]
    value: String,
}

fn main() {}
