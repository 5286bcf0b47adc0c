//! A field that stands there twice.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
