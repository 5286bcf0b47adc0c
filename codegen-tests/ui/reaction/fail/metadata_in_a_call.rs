//! A call has no request.

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
    async fn mail(_: &BookBorrowedEvent, metadata: &Metadata) -> Result<(), std::io::Error> {
        let _ = metadata;
        Ok(())
    }
}

fn main() {}
