//! A field in the subject of a command that has none.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {}

fn main() {}
