//! A command with a condition on nothing.

use es_framework::prelude::*;

#[derive(Command)]
#[command(condition = pristine)]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
