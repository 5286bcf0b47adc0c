//! All mistakes of one block are reported at once.

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
    async fn purchased(event: &BookPurchasedEvent) {}

    unsafe fn borrowed<E>(&self, event: &E) {}

    fn returned(&mut self) {}
}

fn main() {}
