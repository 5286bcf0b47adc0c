//! Items that keep no rule.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(each())]
    value: Vec<String>,
}

fn main() {}
