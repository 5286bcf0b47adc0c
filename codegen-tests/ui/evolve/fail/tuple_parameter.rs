//! A parameter that can be no event.

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
    fn purchased(_: (Uuid, u32)) -> Self {
        Self { copies: 1 }
    }
}

fn main() {}
