//! A query of one row that names another field than the key, so that it shows any one of several rows.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct LoanOpenedEvent {
    book: Uuid,
    reader: Uuid,
}

#[derive(ReadModel)]
#[read_model(table = "loans")]
struct Loan {
    #[key]
    book: Uuid,
    reader: Uuid,
}

#[projection]
impl Loan {
    #[key(book)]
    fn opened(event: &LoanOpenedEvent) -> Self {
        let (book, reader) = (event.book, event.reader);
        Self { book, reader }
    }
}

#[derive(Query)]
#[query(path = "/loans/{reader}", row = Loan)]
struct FindLoan {
    reader: Uuid,
}

fn main() {}
