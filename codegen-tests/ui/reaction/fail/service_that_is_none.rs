//! A call is given what the application provides.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookBorrowedEvent {
    id: Uuid,
    due_at: Timestamp,
}

struct Mailer;

struct LoanReminder;

#[reaction]
impl LoanReminder {
    async fn mail(_: &BookBorrowedEvent, mailer: &Mailer) -> Result<(), std::io::Error> {
        let _ = mailer;
        Ok(())
    }
}

fn main() {}
