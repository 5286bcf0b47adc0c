//! Cases of `read_model`: types of columns.

use es_framework::prelude::*;

mod chrono {
    pub struct Utc;
    pub struct DateTime<T>(T);
}

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookPurchasedEvent {
    id: Uuid,
}

mod whole_number_without_a_sign {
    //! The field is whole numbers without a sign.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        pages: u64,
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

mod optional_large_number {
    //! The field is an optional number.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        pages: Option<usize>,
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

mod date_of_chrono {
    //! The field is a time of another crate.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        at: chrono::DateTime<chrono::Utc>,
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

mod system_time {
    //! The field is a time of the standard library.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        at: Option<std::time::SystemTime>,
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

mod duration {
    //! The field is a length of time.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        kept: std::time::Duration,
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

mod unsorted_map {
    //! The field is a map without an order.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        named: std::collections::HashMap<String, u8>,
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

mod set {
    //! The field is a set.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        tags: std::collections::BTreeSet<String>,
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

mod pair {
    //! The field is a pair.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        pair: (u8, u8),
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

mod character {
    //! The field is a character.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        letter: char,
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
