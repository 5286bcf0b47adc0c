//! A function for two events at once.

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
impl Book {
    fn purchased(_: &BookPurchasedEvent, _: &BookPurchasedEvent) -> Self {
        Self { copies: 1 }
    }
}

fn main() {}
