//! Two functions say what follows from one event.

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
    fn purchased(_: &BookPurchasedEvent) -> Self {
        Self { copies: 1 }
    }

    fn bought(&mut self, _: &BookPurchasedEvent) {
        self.copies = 2;
    }
}

fn main() {}
