//! Cases of `projection`: item shapes.

mod a_constant {
    //! A projection holds functions.

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
        const PAGES: i64 = 1;

        fn purchased(event: &BookPurchasedEvent) -> Self {
            Self { id: event.id }
        }
    }
}

mod a_struct {
    //! A projection is a block.

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
    struct Other;

    #[projection]
    impl BookCopy {
        fn purchased(event: &BookPurchasedEvent) -> Self {
            Self { id: event.id }
        }
    }
}

mod a_trait {
    //! A projection is no trait.

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

    trait Step {
        fn purchased(event: &BookPurchasedEvent) -> Self;
    }

    #[projection]
    impl Step for BookCopy {
        fn purchased(event: &BookPurchasedEvent) -> Self {
            Self { id: event.id }
        }
    }
}

mod async_function {
    //! A projection does no I/O.

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
        async fn purchased(event: &BookPurchasedEvent) -> Self {
            Self { id: event.id }
        }
    }
}

mod extern_function {
    //! The framework calls functions of Rust.

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
        extern "C" fn purchased(event: &BookPurchasedEvent) -> Self {
            Self { id: event.id }
        }
    }
}

mod generic_function {
    //! A step follows from one event.

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
        fn purchased<E: Event>(_: &E) -> Self {
            unimplemented!()
        }
    }
}

mod no_event {
    //! A step follows from an event.

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
        fn purchased() -> Self {
            Self { id: Uuid::nil() }
        }
    }
}

mod no_function {
    //! No event leads to a row.

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
    impl BookCopy {}
}

mod unsafe_function {
    //! The framework calls no unsafe code.

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
        unsafe fn purchased(event: &BookPurchasedEvent) -> Self {
            Self { id: event.id }
        }
    }
}

fn main() {}
