//! Queries of one row that name another field than the key, or one of its two fields, so that they show any one of
//! several rows.

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

#[derive(ReadModel)]
#[read_model(table = "days")]
struct DoctorsDay {
    #[key]
    doctor: Uuid,
    #[key]
    day: String,
}

#[derive(Event)]
#[event(package = "com.example.library")]
struct DayPlannedEvent {
    doctor: Uuid,
    day: String,
}

#[projection]
impl DoctorsDay {
    #[key(doctor, day)]
    fn planned(event: DayPlannedEvent) -> Self {
        let DayPlannedEvent { doctor, day } = event;
        Self { doctor, day }
    }
}

#[derive(Query)]
#[query(path = "/doctors/{doctor}", row = DoctorsDay)]
struct ShowDay {
    doctor: Uuid,
    #[filter(eq)]
    day: Option<String>,
}

fn main() {}
