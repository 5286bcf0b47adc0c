//! A reaction sends a command.

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
    fn remind(event: &BookBorrowedEvent) -> Uuid {
        event.id
    }
}

fn main() {}
