//! A role that is two words.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}", role = "staff, reader")]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
