//! A field of a command has a type that is not `Clone`.

use es_framework::prelude::*;

#[derive(Value)]
struct Price {
    cents: i64,
}

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    price: Price,
}

#[handler]
fn purchase(command: PurchaseBookCommand) {
    let _ = command;
}

fn main() {}
