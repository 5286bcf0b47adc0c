//! A member with two names.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[serde(rename(serialize = "a", deserialize = "b"))]
    value: String,
}

fn main() {}
