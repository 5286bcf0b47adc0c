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

mod state_that_is_none {
    //! A function that sends commands takes states alone.

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

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct ReaderRemindedEvent {}

    #[handler]
    fn remind(_: RemindReaderCommand) -> ReaderRemindedEvent {
        ReaderRemindedEvent {}
    }

    struct Book;

    struct LoanReminder;

    #[reaction]
    impl LoanReminder {
        fn remind(event: &BookBorrowedEvent, book: Book) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }

        fn remind_again(
            event: &BookBorrowedEvent,
            #[subject("/readers/{}")] book: &Book,
        ) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }
    }
}

fn main() {}
