//! An attribute that cannot be read.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}" condition = pristine)]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
