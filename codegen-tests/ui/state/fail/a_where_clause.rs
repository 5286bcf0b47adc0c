//! A state is one type, which is always there.

use es_framework::prelude::*;

#[derive(State)]
struct Book
where
    u8: Copy,
{
    copies: u8,
}

#[evolve]
impl Book {
    fn purchased(_: &BookPurchasedEvent) -> Self {
        Self { copies: 1 }
    }
}

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {}

fn main() {}
