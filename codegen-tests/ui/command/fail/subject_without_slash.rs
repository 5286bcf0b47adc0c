//! A subject that does not start with a slash.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
