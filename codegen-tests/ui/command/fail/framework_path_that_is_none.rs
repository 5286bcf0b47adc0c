//! A crate that is no path.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
#[es(crate = "es framework")]
struct PurchaseBookCommand {
    id: String,
}

fn main() {}
