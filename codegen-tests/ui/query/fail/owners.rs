//! Wrong rules about the owner of what a query asks for.

use es_framework::prelude::*;

mod unknown_field {
    use super::*;

    #[derive(Query)]
    #[query(path = "/readers/{reader}/loans", role = "reader", owner = raeder, paged)]
    pub struct LoansOfReader {
        pub reader: Uuid,
    }
}

mod several_owners {
    use super::*;

    #[derive(Query)]
    #[query(path = "/loans", role = "reader", owner = readers, paged)]
    pub struct LoansOfReaders {
        pub readers: Vec<Uuid>,
    }
}

#[derive(Event)]
#[event(package = "com.example.tests")]
pub struct BookLentEvent {
    pub id: Uuid,
    pub reader: String,
    pub card: String,
}

#[derive(ReadModel)]
#[read_model(table = "loans", subject = "/books/{id}")]
pub struct Loan {
    #[key]
    pub id: Uuid,
    pub reader: String,
    #[search(alphanumeric)]
    pub card: String,
}

#[projection]
impl Loan {
    fn lent(event: &BookLentEvent) -> Self {
        Self { id: event.id, reader: event.reader.clone(), card: event.card.clone() }
    }
}

mod owner_within_a_text {
    //! A reader `ann` would see the loans of `joanne`.

    use super::*;

    #[derive(Query)]
    #[query(path = "/loans", role = "reader", owner = who, rows = Loan)]
    pub struct LoansWithin {
        #[filter(contains(reader))]
        pub who: String,
    }
}

mod owner_from_a_text_on {
    //! A reader would see the loans of all readers after this one.

    use super::*;

    #[derive(Query)]
    #[query(path = "/loans/{reader}", role = "reader", owner = reader, rows = Loan)]
    pub struct LoansFrom {
        #[filter(at_least)]
        pub reader: String,
    }
}

mod owner_by_letters_and_digits {
    //! A reader `a-1` would see the loans of `A1`.

    use super::*;

    #[derive(Query)]
    #[query(path = "/loans", role = "reader", owner = card, rows = Loan)]
    pub struct LoansOfCard {
        #[filter(eq)]
        pub card: String,
    }
}

fn main() {}
