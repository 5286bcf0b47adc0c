//! A name that camelCase cannot be made of.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    __: i64,
}

fn main() {}
