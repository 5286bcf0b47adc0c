//! A call has no answer.

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
    async fn mail(event: &BookBorrowedEvent) -> Result<Uuid, std::io::Error> {
        Ok(event.id)
    }
}

fn main() {}
