//! A field that does not exist.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{reader}")]
struct PurchaseBookCommand {
    id: Uuid,
    title: String,
}

fn main() {}
