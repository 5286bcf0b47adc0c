//! Braces without a field.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{}")]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
