//! A command whose fields have no names.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand(Uuid, String);

fn main() {}
