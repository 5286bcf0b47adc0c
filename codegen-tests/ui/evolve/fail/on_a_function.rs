//! The attribute stands above a function instead of the `impl`.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {
    id: Uuid,
}

#[derive(State)]
struct Book {
    copies: u32,
}

#[evolve]
fn purchased(_: &BookPurchasedEvent) -> Book {
    Book { copies: 1 }
}

fn main() {}
