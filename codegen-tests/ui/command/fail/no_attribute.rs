//! A command that does not say what it is about.

use es_framework::prelude::*;

#[derive(Command)]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
