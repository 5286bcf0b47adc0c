//! A state that no event creates would never exist.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookBorrowedEvent {
    id: Uuid,
}

#[derive(State)]
struct Book {
    loans: u32,
}

#[evolve]
impl Book {
    fn borrowed(&mut self, _: &BookBorrowedEvent) {
        self.loans += 1;
    }
}

fn main() {}
