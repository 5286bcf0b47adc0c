//! Cases of `reaction`: deadlines.

mod deadline_without_a_time {
    //! A deadline names the time.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookBorrowedEvent {
        id: Uuid,
        due_at: Timestamp,
    }

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookReturnedEvent {}

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
        #[deadline]
        fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }

        #[deadline(unless(BookReturnedEvent))]
        fn remind_again(event: &BookBorrowedEvent) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }
    }
}

mod misspelt_key_of_a_deadline {
    //! The keys of a deadline are known.

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
        #[deadline(att = due_at)]
        fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }
    }
}

mod two_deadlines {
    //! A function has one deadline.

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
        #[deadline(at = due_at)]
        #[deadline(at = due_at)]
        fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
            RemindReaderCommand { id: event.id }
        }
    }
}

mod length_of_time_without_a_unit {
    //! A deadline before a time says how long before.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct TalkPlannedEvent {
        starts_at: Timestamp,
    }

    struct Hall;

    #[reaction]
    impl Hall {
        #[deadline(at = starts_at - 24)]
        async fn open(_: &TalkPlannedEvent) -> Result<(), std::io::Error> {
            Ok(())
        }

        #[deadline(at = starts_at - 24h, unles(TalkPlannedEvent), = 1)]
        async fn heat(_: &TalkPlannedEvent) -> Result<(), std::io::Error> {
            Ok(())
        }
    }
}

fn main() {}
