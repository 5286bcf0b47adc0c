//! A subject that gives no path.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
}

fn main() {}
