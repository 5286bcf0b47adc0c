//! The error of a call is shown in the log.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookBorrowedEvent {
    id: Uuid,
    due_at: Timestamp,
}

struct MailError;

struct LoanReminder;

#[reaction]
impl LoanReminder {
    async fn mail(_: &BookBorrowedEvent) -> Result<(), MailError> {
        Ok(())
    }
}

fn main() {}
