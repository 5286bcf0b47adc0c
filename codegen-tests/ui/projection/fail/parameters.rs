//! Cases of `projection`: parameters.

mod another_return_type {
    //! A step gives a row.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
    }

    #[projection]
    impl BookCopy {
        fn purchased(event: &BookPurchasedEvent) -> Uuid {
            event.id
        }
    }
}

mod arguments {
    //! The attribute has no arguments.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
    }

    #[projection(BookCopy)]
    impl BookCopy {
        fn purchased(event: &BookPurchasedEvent) -> Self {
            Self { id: event.id }
        }
    }
}

mod one_event_twice {
    //! Two steps follow from one event.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
    }

    #[projection]
    impl BookCopy {
        fn purchased(event: &BookPurchasedEvent) -> Self {
            Self { id: event.id }
        }

        fn bought(event: &BookPurchasedEvent) -> Self {
            Self { id: event.id }
        }
    }
}

mod row_by_reference {
    //! A row that is only looked at does not change.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
    }

    #[projection]
    impl BookCopy {
        fn purchased(&self, _: &BookPurchasedEvent) {}
    }
}

mod three_parameters {
    //! A step takes an event and the stored one.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
    }

    #[projection]
    impl BookCopy {
        fn purchased(event: &BookPurchasedEvent, _: &es_framework::event::RecordedEvent, _: i64) -> Self {
            Self { id: event.id }
        }
    }
}

mod clock_in_a_projection {
    //! A row follows from its events alone.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    #[derive(ReadModel)]
    #[read_model(table = "books", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
    }

    #[projection]
    impl BookCopy {
        fn purchased(event: &BookPurchasedEvent, _clock: &Clock) -> Self {
            Self { id: event.id }
        }

        fn counted(&mut self, _recorded: &RecordedEvent) {}
    }
}

fn main() {}
