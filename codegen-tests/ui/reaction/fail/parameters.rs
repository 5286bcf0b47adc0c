//! Cases of `reaction`: parameters.

mod parameters_that_no_reaction_has {
    //! A message lists the parameters that a function can have.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookBorrowedEvent {
        id: Uuid,
    }

    #[derive(Command)]
    #[command(subject = "/books/{id}", internal)]
    struct RemindReaderCommand {
        id: Uuid,
    }

    struct LoanReminder;

    #[reaction]
    impl LoanReminder {
        fn remind(event: &BookBorrowedEvent, clock: &Clock) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }

        fn tick(clock: &Clock) -> RemindReaderCommand {
            RemindReaderCommand { id: Uuid::nil() }
        }

        async fn mail(_: &BookBorrowedEvent, clock: Clock) -> Result<(), std::io::Error> {
            Ok(())
        }

        async fn log(recorded: &RecordedEvent) -> Result<(), std::io::Error> {
            Ok(())
        }
    }
}

fn main() {}
