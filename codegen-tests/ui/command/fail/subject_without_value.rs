//! A key without its value.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject)]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
