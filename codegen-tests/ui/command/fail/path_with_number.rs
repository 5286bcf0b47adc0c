//! A path parameter that is a number.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}", path = "/books/{id}/purchase")]
struct PurchaseBookCommand {
    id: u64,
}

fn main() {}
