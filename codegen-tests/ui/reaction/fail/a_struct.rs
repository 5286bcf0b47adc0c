//! A reaction is a block.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookBorrowedEvent {
    id: Uuid,
    due_at: Timestamp,
}

// The functions are missing.

#[reaction]
struct LoanReminder;

fn main() {}
