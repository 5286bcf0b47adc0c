//! A call may go on on another thread.

use es_framework::prelude::*;

use std::rc::Rc;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookBorrowedEvent {
    id: Uuid,
    due_at: Timestamp,
}

struct LoanReminder;

#[reaction]
impl LoanReminder {
    async fn mail(_: &BookBorrowedEvent) -> Result<(), std::io::Error> {
        let lines = Rc::new(1);
        std::future::ready(()).await;
        drop(lines);
        Ok(())
    }
}

fn main() {}
