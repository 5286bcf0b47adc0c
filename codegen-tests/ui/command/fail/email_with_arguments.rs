//! Arguments of a rule that has none.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(email(strict))]
    value: String,
}

fn main() {}
