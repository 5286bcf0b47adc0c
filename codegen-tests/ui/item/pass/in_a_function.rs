//! All of it may be declared where it is used, in a function.

#![deny(warnings)]

use es_framework::prelude::*;

#[test]
fn works() {
    #[derive(Event)]
    #[event(package = "com.example.library", read_model = "happenings")]
    struct HappenedEvent {
        id: Uuid,
    }

    #[derive(State)]
    struct Book;

    #[evolve]
    impl Book {
        fn happened(_: &HappenedEvent) -> Self {
            Self
        }
    }

    #[derive(Settings)]
    struct Lending {
        /// How many days.
        #[setting(default = 3)]
        days: u32,
    }

    #[derive(Service)]
    struct Rates;

    #[derive(Value)]
    struct Loan {
        id: Uuid,
    }

    #[derive(Debug, Rejection)]
    enum LendingError {
        #[rejection(conflict)]
        Lent,
    }

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct BorrowBookCommand {
        id: Uuid,
    }

    #[handler]
    fn borrow(
        command: BorrowBookCommand,
        book: Option<&Book>,
        lending: &Lending,
        _: &Rates,
    ) -> Result<Decision<HappenedEvent, Loan>, LendingError> {
        let BorrowBookCommand { id } = command;
        match book {
            Some(Book) => Err(LendingError::Lent),
            None if lending.days == 0 => Err(LendingError::Lent),
            None => Ok(Decision::new(HappenedEvent { id }, Loan { id })),
        }
    }

    let _ = borrow;
}
