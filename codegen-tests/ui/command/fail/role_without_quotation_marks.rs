//! A role that is no text.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}", role = staff)]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
