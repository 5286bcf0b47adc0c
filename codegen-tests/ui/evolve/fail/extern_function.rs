//! The framework calls functions of Rust.

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
    extern "C" fn purchased(_: &BookPurchasedEvent) -> Self {
        Self { copies: 1 }
    }
}

fn main() {}
