//! A path parameter that is no field.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}", path = "/books/{isbn}/purchase")]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
