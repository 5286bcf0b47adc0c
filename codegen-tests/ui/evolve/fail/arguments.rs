//! What a state follows from are the functions alone.

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

#[evolve(strict)]
impl Book {
    fn purchased(_: &BookPurchasedEvent) -> Self {
        Self { copies: 1 }
    }
}

fn main() {}
