//! A subject in the place of the parentheses.

use es_framework::prelude::*;

#[derive(Command)]
#[command = "/books/{id}"]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
