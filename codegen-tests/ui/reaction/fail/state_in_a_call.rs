//! A call has no state.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookBorrowedEvent {
    id: Uuid,
    due_at: Timestamp,
}

#[derive(State)]
struct Book {}

#[evolve]
impl Book {
    fn borrowed(_: &BookBorrowedEvent) -> Self {
        Self {}
    }
}

struct LoanReminder;

#[reaction]
impl LoanReminder {
    async fn mail(_: &BookBorrowedEvent, book: &Book) -> Result<(), std::io::Error> {
        let _ = book;
        Ok(())
    }
}

fn main() {}
