//! A condition that is spelt otherwise.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}", condition = exist)]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
