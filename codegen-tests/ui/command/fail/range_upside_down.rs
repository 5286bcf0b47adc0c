//! A range of nothing.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(range(min = 9, max = 1))]
    value: i64,
}

fn main() {}
