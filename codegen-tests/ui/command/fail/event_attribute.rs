//! An attribute of events on a command.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
#[event(package = "com.example.library")]
struct PurchaseBookCommand {
    id: String,
}

fn main() {}
