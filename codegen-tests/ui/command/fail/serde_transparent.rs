//! Another shape of JSON.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
#[serde(transparent)]
struct PurchaseBookCommand {
    id: String,
}

fn main() {}
