//! A pattern with flags, which a schema has no room for.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(pattern("(?i)^a$"))]
    value: String,
}

fn main() {}
