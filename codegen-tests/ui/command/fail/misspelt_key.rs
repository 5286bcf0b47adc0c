//! A key that is spelt otherwise.

use es_framework::prelude::*;

#[derive(Command)]
#[command(sujbect = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
