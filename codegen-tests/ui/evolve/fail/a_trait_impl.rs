//! The functions are no trait's.

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

trait Purchased {
    fn purchased(event: &BookPurchasedEvent) -> Self;
}

#[evolve]
impl Purchased for Book {
    fn purchased(_: &BookPurchasedEvent) -> Self {
        Self { copies: 1 }
    }
}

fn main() {}
