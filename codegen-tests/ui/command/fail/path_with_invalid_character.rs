//! A character that paths do not have.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}", path = "/books?buy")]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
