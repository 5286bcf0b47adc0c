//! Cases of `read_model`: attributes.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookPurchasedEvent {
    id: Uuid,
}

mod column_of_the_framework {
    //! A column is named as one of the framework.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        es_place: i64,
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

mod column_with_a_long_name {
    //! PostgreSQL cuts off long names.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        title_of_the_edition_that_the_library_has_bought: String,
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

mod inline_given {
    //! No append writes rows.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}", inline)]
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

mod misspelt_key {
    //! A key of the attribute is misspelt.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(tabel = "book_copies", subject = "/books/{id}")]
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

mod no_table {
    //! The table is missing.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(subject = "/books/{id}")]
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

mod table_of_the_framework {
    //! The names of the framework are its own.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "es_checkpoint", subject = "/books/{id}")]
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

mod table_with_invalid_character {
    //! A table is named in lower-case letters.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "Book copies", subject = "/books/{id}")]
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

mod table_with_a_long_name {
    //! PostgreSQL cuts off long names.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "copies_of_books_that_the_library_has_bought_from_a_dealer", subject = "/books/{id}")]
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

mod version_that_is_no_number {
    //! The version is a number.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}", version = "2")]
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
