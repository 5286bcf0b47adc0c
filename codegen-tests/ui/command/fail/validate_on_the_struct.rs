//! A rule that stands above the struct.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
#[validate(text(max = 32))]
struct PurchaseBookCommand {
    id: String,
}

fn main() {}
