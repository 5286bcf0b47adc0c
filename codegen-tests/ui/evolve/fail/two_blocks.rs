//! All functions of a state stand in one block.

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

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookRemovedEvent {}

#[evolve]
impl Book {
    fn purchased(_: &BookPurchasedEvent) -> Self {
        Self { copies: 1 }
    }
}

#[evolve]
impl Book {
    fn removed(&mut self, _: &BookRemovedEvent) {
        self.copies = 0;
    }
}

fn main() {}
