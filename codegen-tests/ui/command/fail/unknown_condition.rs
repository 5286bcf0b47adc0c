//! A condition that does not exist.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}", condition = unique)]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
