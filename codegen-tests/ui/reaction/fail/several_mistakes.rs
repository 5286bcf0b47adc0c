//! Every mistake has its message.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookBorrowedEvent {
    id: Uuid,
    due_at: Timestamp,
}

struct LoanReminder;

#[reaction(name = "", begin = later)]
impl LoanReminder {
    const DAYS: i64 = 1;

    #[deadline(att = due_at)]
    fn remind(&self, _: &BookBorrowedEvent) {}

    async fn mail(events: Vec<BookBorrowedEvent>, clock: Clock) {}
}

fn main() {}
