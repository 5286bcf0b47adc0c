//! A state is of one type.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {
    id: Uuid,
}

struct Shelf<T>(T);

#[evolve]
impl<T> Shelf<T> {
    fn purchased(_: &BookPurchasedEvent) -> Option<Self> {
        None
    }
}

fn main() {}
