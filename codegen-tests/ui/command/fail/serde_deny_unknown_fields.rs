//! What a command does anyway.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
#[serde(deny_unknown_fields)]
struct PurchaseBookCommand {
    id: String,
}

fn main() {}
