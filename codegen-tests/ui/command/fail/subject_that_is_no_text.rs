//! A value of the wrong type.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = 42)]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
