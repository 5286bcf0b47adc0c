//! A command with a type parameter.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand<T> {
    id: T,
}

fn main() {}
