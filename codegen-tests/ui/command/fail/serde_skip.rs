//! A field that is no member.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[serde(skip)]
    value: String,
}

fn main() {}
