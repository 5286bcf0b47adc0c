//! A reaction without a function reacts to nothing.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookBorrowedEvent {
    id: Uuid,
    due_at: Timestamp,
}

struct LoanReminder;

#[reaction]
impl LoanReminder {}

fn main() {}
