//! Cases of `read_model`: who sees a field.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookPurchasedEvent {
    id: Uuid,
}

mod nobody_named {
    //! The attribute says nothing.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        #[visible]
        reader: Option<Uuid>,
    }

    #[projection]
    impl BookCopy {
        fn purchased(_: &BookPurchasedEvent) -> Self {
            unimplemented!()
        }
    }
}

mod unknown_word {
    //! A key is misspelt, and a role is no text.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        #[visible(rol = "staff")]
        reader: Option<Uuid>,
        #[visible(role = staff)]
        due_at: Option<Timestamp>,
    }

    #[projection]
    impl BookCopy {
        fn purchased(_: &BookPurchasedEvent) -> Self {
            unimplemented!()
        }
    }
}

mod empty_role {
    //! A role has no letters, or there is none.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        #[visible(role = "")]
        reader: Option<Uuid>,
        #[visible(role = [])]
        due_at: Option<Timestamp>,
    }

    #[projection]
    impl BookCopy {
        fn purchased(_: &BookPurchasedEvent) -> Self {
            unimplemented!()
        }
    }
}

mod on_the_key {
    //! A row without its key is no row.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        #[visible(role = "staff")]
        id: Uuid,
    }

    #[projection]
    impl BookCopy {
        fn purchased(_: &BookPurchasedEvent) -> Self {
            unimplemented!()
        }
    }
}

mod above_the_struct {
    //! The attribute stands above the struct.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    #[visible(role = "staff")]
    struct BookCopy {
        #[key]
        id: Uuid,
    }

    #[projection]
    impl BookCopy {
        fn purchased(_: &BookPurchasedEvent) -> Self {
            unimplemented!()
        }
    }
}

mod no_such_owner {
    //! The field with the owner id does not exist.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        reader: Option<Uuid>,
        #[visible(owner = raeder)]
        due_at: Option<Timestamp>,
    }

    #[projection]
    impl BookCopy {
        fn purchased(_: &BookPurchasedEvent) -> Self {
            unimplemented!()
        }
    }
}

mod owner_that_is_no_id {
    //! The field with the owner id holds none.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        #[visible(owner)]
        due_at: Option<Timestamp>,
    }

    #[projection]
    impl BookCopy {
        fn purchased(_: &BookPurchasedEvent) -> Self {
            unimplemented!()
        }
    }
}

mod written_by_serde {
    //! Two rules say when the member is left out.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        #[visible(role = "staff")]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reader: Option<Uuid>,
    }

    #[projection]
    impl BookCopy {
        fn purchased(_: &BookPurchasedEvent) -> Self {
            unimplemented!()
        }
    }
}

fn main() {}
