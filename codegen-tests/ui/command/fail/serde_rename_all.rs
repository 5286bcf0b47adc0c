//! Names on the wire are camelCase.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
#[serde(rename_all = "snake_case")]
struct PurchaseBookCommand {
    id: String,
}

fn main() {}
