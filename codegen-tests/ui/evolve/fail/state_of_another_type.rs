//! Something else than the state comes of it.

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
    fn purchased(event: &BookPurchasedEvent) -> Uuid {
        event.id
    }
}

fn main() {}
