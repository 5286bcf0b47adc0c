//! Two slashes in a row.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books//{id}")]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
