//! Cases of `read_model`: keys.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookPurchasedEvent {
    id: Uuid,
}

mod key_with_arguments {
    //! The key has arguments.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key(id)]
        id: Uuid,
    }

    #[projection]
    impl BookCopy {
        fn purchased(event: &BookPurchasedEvent) -> Self {
            BookCopy::of(event.id)
        }
    }

    impl BookCopy {
        fn of(_: Uuid) -> Self {
            unimplemented!()
        }
    }
}

mod no_key {
    //! No field tells the rows apart.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        id: Uuid,
    }

    #[projection]
    impl BookCopy {
        fn purchased(event: &BookPurchasedEvent) -> Self {
            BookCopy::of(event.id)
        }
    }

    impl BookCopy {
        fn of(_: Uuid) -> Self {
            unimplemented!()
        }
    }
}

mod optional_key {
    //! A key may be missing.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Option<Uuid>,
    }

    #[projection]
    impl BookCopy {
        fn purchased(event: &BookPurchasedEvent) -> Self {
            BookCopy::of(event.id)
        }
    }

    impl BookCopy {
        fn of(_: Uuid) -> Self {
            unimplemented!()
        }
    }
}

mod subject_with_a_part_of_the_key {
    //! The subject gives one of the two fields that tell the rows apart.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        #[key]
        isbn: String,
    }

    #[projection]
    impl BookCopy {
        fn purchased(event: &BookPurchasedEvent) -> Self {
            BookCopy::of(event.id)
        }
    }

    impl BookCopy {
        fn of(_: Uuid) -> Self {
            unimplemented!()
        }
    }
}

mod too_many_fields {
    //! More fields tell the rows apart than a key can have, and one of them cannot.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies")]
    struct BookCopy {
        #[key]
        id: Uuid,
        #[key]
        isbn: String,
        #[key]
        shelf: u32,
        #[key]
        is_lent: bool,
        #[key]
        place: u32,
    }

    #[projection]
    impl BookCopy {
        #[key(id, isbn, shelf, is_lent, place)]
        fn purchased(event: &BookPurchasedEvent) -> Self {
            BookCopy::of(event.id)
        }
    }

    impl BookCopy {
        fn of(_: Uuid) -> Self {
            unimplemented!()
        }
    }
}

mod subject_with_another_field {
    //! The subject gives a field that is not the key.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{isbn}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        isbn: String,
    }

    #[projection]
    impl BookCopy {
        fn purchased(event: &BookPurchasedEvent) -> Self {
            BookCopy::of(event.id)
        }
    }

    impl BookCopy {
        fn of(_: Uuid) -> Self {
            unimplemented!()
        }
    }
}

mod subject_with_misspelt_field {
    //! The subject misspells the key.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{ident}")]
    struct BookCopy {
        #[key]
        id: Uuid,
    }

    #[projection]
    impl BookCopy {
        fn purchased(event: &BookPurchasedEvent) -> Self {
            BookCopy::of(event.id)
        }
    }

    impl BookCopy {
        fn of(_: Uuid) -> Self {
            unimplemented!()
        }
    }
}

mod subject_without_the_key {
    //! The subject does not give the key.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books")]
    struct BookCopy {
        #[key]
        id: Uuid,
    }

    #[projection]
    impl BookCopy {
        fn purchased(event: &BookPurchasedEvent) -> Self {
            BookCopy::of(event.id)
        }
    }

    impl BookCopy {
        fn of(_: Uuid) -> Self {
            unimplemented!()
        }
    }
}

fn main() {}
