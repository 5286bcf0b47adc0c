//! A key that is given twice.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
#[command(subject = "/copies/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
