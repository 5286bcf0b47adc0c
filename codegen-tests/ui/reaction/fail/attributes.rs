//! Cases of `reaction`: attributes.

mod call_without_a_result {
    //! A call can fail.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookBorrowedEvent {
        id: Uuid,
        due_at: Timestamp,
    }

    struct LoanReminder;

    #[reaction]
    impl LoanReminder {
        async fn mail(event: &BookBorrowedEvent) {}
    }
}

mod command_with_a_service {
    //! A command follows from its event alone.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookBorrowedEvent {
        id: Uuid,
        due_at: Timestamp,
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

    struct LoanReminder;

    #[reaction]
    impl LoanReminder {
        fn remind(event: &BookBorrowedEvent, clock: &Clock) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }
    }
}

mod misspelt_beginning {
    //! A reaction begins with the first event or with a new one.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookBorrowedEvent {
        id: Uuid,
        due_at: Timestamp,
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

    struct LoanReminder;

    #[reaction(begin = now)]
    impl LoanReminder {
        fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }
    }
}

mod misspelt_key {
    //! The keys of a reaction are known.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookBorrowedEvent {
        id: Uuid,
        due_at: Timestamp,
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

    struct LoanReminder;

    #[reaction(nam = "Reminder")]
    impl LoanReminder {
        fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }
    }
}

mod name_that_is_no_segment {
    //! A reaction's name stands in a subject.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookBorrowedEvent {
        id: Uuid,
        due_at: Timestamp,
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

    struct LoanReminder;

    #[reaction(name = "loan reminder")]
    impl LoanReminder {
        fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }
    }
}

mod no_attempt {
    //! A call is made at least once.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookBorrowedEvent {
        id: Uuid,
        due_at: Timestamp,
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

    struct LoanReminder;

    #[reaction(attempts = 0)]
    impl LoanReminder {
        fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }
    }
}

mod nothing_follows {
    //! A function says what follows.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookBorrowedEvent {
        id: Uuid,
        due_at: Timestamp,
    }

    struct LoanReminder;

    #[reaction]
    impl LoanReminder {
        fn remind(_: &BookBorrowedEvent) {}
    }
}

mod parameter_that_is_no_event {
    //! The first parameter is an event.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookBorrowedEvent {
        id: Uuid,
        due_at: Timestamp,
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

    struct LoanReminder;

    #[reaction]
    impl LoanReminder {
        fn remind(events: &[BookBorrowedEvent]) -> Vec<RemindReaderCommand> {
            vec![]
        }
    }
}

mod repeats_with_a_value {
    //! A flag with a value.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookBorrowedEvent {}

    struct Receipts;

    #[reaction(repeats = true)]
    impl Receipts {
        async fn print(_: &BookBorrowedEvent) -> Result<(), std::io::Error> {
            Ok(())
        }
    }
}

mod service_by_value {
    //! A call borrows what it is given.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookBorrowedEvent {
        id: Uuid,
        due_at: Timestamp,
    }

    struct LoanReminder;

    #[reaction]
    impl LoanReminder {
        async fn mail(_: &BookBorrowedEvent, clock: Clock) -> Result<(), std::io::Error> {
            Ok(())
        }
    }
}

mod unless_nothing {
    //! `unless` names the event that cancels a deadline.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookBorrowedEvent {
        id: Uuid,
        due_at: Timestamp,
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

    struct LoanReminder;

    #[reaction]
    impl LoanReminder {
        #[deadline(at = due_at, unless)]
        fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }

        #[deadline(at = due_at, unless())]
        fn remind_again(event: &BookBorrowedEvent) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }
    }
}

mod too_many_attempts {
    //! A call is not made for ever.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookBorrowedEvent {
        id: Uuid,
        due_at: Timestamp,
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

    struct LoanReminder;

    #[reaction(attempts = 4294967295)]
    impl LoanReminder {
        fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }
    }
}

fn main() {}
