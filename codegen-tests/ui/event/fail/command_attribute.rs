//! An attribute of commands on an event.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
#[command(subject = "/books/{id}")]
struct BookPurchasedEvent {
    id: Uuid,
}

fn main() {}
