//! A flag with a value.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookBorrowedEvent {}

struct Receipts;

#[reaction(repeats = true)]
impl Receipts {
    async fn print(_: &BookBorrowedEvent) -> Result<(), std::io::Error> {
        Ok(())
    }
}

fn main() {}
