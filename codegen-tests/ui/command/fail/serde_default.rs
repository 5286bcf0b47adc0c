//! A default for all fields at once.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
#[serde(default)]
struct PurchaseBookCommand {
    id: String,
}

fn main() {}
