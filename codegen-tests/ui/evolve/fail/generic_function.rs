//! A function is for one kind of event.

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
    fn purchased<E: Event>(_: &E) -> Self {
        Self { copies: 1 }
    }
}

fn main() {}
