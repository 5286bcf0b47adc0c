//! A field that may be absent.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Option<Uuid>,
}

fn main() {}
