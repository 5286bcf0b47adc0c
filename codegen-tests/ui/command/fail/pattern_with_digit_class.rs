//! A pattern that other readers of the schema read otherwise.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(pattern(r"^\d+$"))]
    value: String,
}

fn main() {}
