//! A call borrows what it is given.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookBorrowedEvent {
    id: Uuid,
    due_at: Timestamp,
}

struct LoanReminder;

#[reaction]
impl LoanReminder {
    async fn mail(_: &BookBorrowedEvent, clock: Clock) -> Result<(), std::io::Error> {
        Ok(())
    }
}

fn main() {}
