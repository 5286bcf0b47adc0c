//! A struct that was not declared as an event.

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
    fn purchased(_: &Purchase) -> Self {
        Self { copies: 1 }
    }
}

struct Purchase;

fn main() {}
