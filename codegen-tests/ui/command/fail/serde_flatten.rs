//! A field that is not one member.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[serde(flatten)]
    value: std::collections::BTreeMap<String, String>,
}

fn main() {}
