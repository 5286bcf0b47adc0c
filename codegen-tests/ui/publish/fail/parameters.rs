//! Cases of `publish`: parameters.

mod no_event {
    //! A publication takes an event.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookReturnedEvent {
        id: Uuid,
    }

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable {
        id: Uuid,
    }

    #[publish]
    fn copy_available() -> CopyAvailable {
        CopyAvailable { id: Uuid::nil() }
    }
}

mod a_list_of_events {
    //! The first parameter is one event.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookReturnedEvent {
        id: Uuid,
    }

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable {
        id: Uuid,
    }

    #[publish]
    fn copy_available(events: &[BookReturnedEvent]) -> Vec<CopyAvailable> {
        Vec::new()
    }
}

mod an_event_with_a_subject {
    //! An event has no attributes.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookReturnedEvent {
        id: Uuid,
    }

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable {
        id: Uuid,
    }

    #[publish]
    fn copy_available(#[subject("/books/{id}")] event: &BookReturnedEvent) -> CopyAvailable {
        CopyAvailable { id: event.id }
    }
}

mod a_clock {
    //! A publication takes no clock.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookReturnedEvent {
        id: Uuid,
    }

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable {
        id: Uuid,
    }

    #[publish]
    fn copy_available(event: &BookReturnedEvent, clock: &Clock) -> CopyAvailable {
        CopyAvailable { id: event.id }
    }
}

mod a_recorded_event {
    //! A recorded event contains personal values.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookReturnedEvent {
        id: Uuid,
    }

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable {
        id: Uuid,
    }

    #[publish]
    fn copy_available(event: &BookReturnedEvent, recorded: &RecordedEvent) -> CopyAvailable {
        CopyAvailable { id: event.id }
    }
}

mod a_command {
    //! A publication takes no command.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookReturnedEvent {
        id: Uuid,
    }

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable {
        id: Uuid,
    }

    #[derive(Command)]
    #[command(subject = "/books/{id}", internal)]
    struct ReturnBookCommand {
        id: Uuid,
    }

    #[handler]
    fn return_book(command: ReturnBookCommand) -> BookReturnedEvent {
        BookReturnedEvent { id: command.id }
    }

    #[publish]
    fn copy_available(event: &BookReturnedEvent, command: ReturnBookCommand) -> CopyAvailable {
        CopyAvailable { id: event.id }
    }
}

mod a_list_of_states {
    //! A publication takes states of single subjects.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookReturnedEvent {
        id: Uuid,
    }

    #[derive(PublicEvent)]
    #[public_event(package = "com.example.tests")]
    struct CopyAvailable {
        id: Uuid,
    }

    #[derive(State)]
    struct Book {}

    #[evolve]
    impl Book {
        fn returned(_: &BookReturnedEvent) -> Self {
            Self {}
        }
    }

    #[publish]
    fn copy_available(event: &BookReturnedEvent, books: Vec<Option<&Book>>) -> CopyAvailable {
        CopyAvailable { id: event.id }
    }
}

fn main() {}
