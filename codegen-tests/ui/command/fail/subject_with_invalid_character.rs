//! A character that no subject has.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/my books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
