//! Cases of `projection`: a row for each element of a list.

mod element_by_value {
    //! All elements share the event.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BooksDeliveredEvent {
        books: Vec<Uuid>,
    }

    #[derive(ReadModel)]
    #[read_model(table = "book_copies")]
    struct BookCopy {
        #[key]
        id: Uuid,
    }

    #[projection]
    impl BookCopy {
        #[each(books)]
        fn delivered(book: Uuid, event: &BooksDeliveredEvent) -> Self {
            Self { id: *book }
        }
    }
}

mod event_by_value {
    //! All elements share the event.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BooksDeliveredEvent {
        books: Vec<Uuid>,
    }

    #[derive(ReadModel)]
    #[read_model(table = "book_copies")]
    struct BookCopy {
        #[key]
        id: Uuid,
    }

    #[projection]
    impl BookCopy {
        #[each(books)]
        fn delivered(book: &Uuid, event: BooksDeliveredEvent) -> Self {
            Self { id: *book }
        }
    }
}

mod list_without_a_field {
    //! The event has a field with the list.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BooksDeliveredEvent {
        books: Vec<Uuid>,
    }

    #[derive(ReadModel)]
    #[read_model(table = "book_copies")]
    struct BookCopy {
        #[key]
        id: Uuid,
    }

    #[projection]
    impl BookCopy {
        #[each]
        fn delivered(book: &Uuid, event: &BooksDeliveredEvent) -> Self {
            Self { id: *book }
        }
    }
}

mod lists {
    //! There is one list.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BooksDeliveredEvent {
        books: Vec<Uuid>,
    }

    #[derive(ReadModel)]
    #[read_model(table = "book_copies")]
    struct BookCopy {
        #[key]
        id: Uuid,
    }

    #[projection]
    impl BookCopy {
        #[each(books)]
        #[each(copies)]
        fn delivered(book: &Uuid, event: &BooksDeliveredEvent) -> Self {
            Self { id: *book }
        }
    }
}

mod no_element {
    //! A function takes an element.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BooksDeliveredEvent {
        books: Vec<Uuid>,
    }

    #[derive(ReadModel)]
    #[read_model(table = "book_copies")]
    struct BookCopy {
        #[key]
        id: Uuid,
    }

    #[projection]
    impl BookCopy {
        #[each(books)]
        fn delivered(event: &BooksDeliveredEvent) -> Self {
            Self { id: *book }
        }
    }
}

mod source_of_a_key {
    //! The fields of a key are those of the event or of the element.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BooksDeliveredEvent {
        shop: String,
        books: Vec<Uuid>,
    }

    #[derive(ReadModel)]
    #[read_model(table = "book_copies")]
    struct BookCopy {
        #[key]
        shop: String,
        #[key]
        id: Uuid,
    }

    #[projection]
    impl BookCopy {
        #[each(books)]
        #[key(delivered.shop, element)]
        fn delivered(book: &Uuid, event: &BooksDeliveredEvent) -> Self {
            Self {
                shop: event.shop.clone(),
                id: *book,
            }
        }
    }
}

mod too_many_parameters {
    //! There is nothing else.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BooksDeliveredEvent {
        books: Vec<Uuid>,
    }

    #[derive(ReadModel)]
    #[read_model(table = "book_copies")]
    struct BookCopy {
        #[key]
        id: Uuid,
    }

    #[projection]
    impl BookCopy {
        #[each(books)]
        fn delivered(book: &Uuid, event: &BooksDeliveredEvent, clock: &Clock) -> Self {
            Self { id: *book }
        }
    }
}

fn main() {}
