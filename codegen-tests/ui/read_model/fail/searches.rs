//! Cases of `read_model`: searches.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookPurchasedEvent {
    id: Uuid,
}

mod alphanumeric_key {
    //! Two keys could have the same letters and digits.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{isbn}")]
    struct BookCopy {
        #[key]
        #[search(alphanumeric)]
        isbn: String,
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
    #[search]
    struct BookCopy {
        #[key]
        id: Uuid,
        isbn: String,
    }

    #[projection]
    impl BookCopy {
        fn purchased(_: &BookPurchasedEvent) -> Self {
            unimplemented!()
        }
    }
}

mod misspelt_form {
    //! The form is misspelt.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        #[search(alphanumerical)]
        isbn: String,
        #[search(digits)]
        title: String,
    }

    #[projection]
    impl BookCopy {
        fn purchased(_: &BookPurchasedEvent) -> Self {
            unimplemented!()
        }
    }
}

mod form_with_a_value {
    //! The form has a value.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        #[search(alphanumeric = true)]
        isbn: String,
        #[search = "alphanumeric"]
        title: String,
    }

    #[projection]
    impl BookCopy {
        fn purchased(_: &BookPurchasedEvent) -> Self {
            unimplemented!()
        }
    }
}

mod searched_twice {
    //! A field has two forms.

    use super::*;

    #[derive(ReadModel)]
    #[read_model(table = "book_copies", subject = "/books/{id}")]
    struct BookCopy {
        #[key]
        id: Uuid,
        #[search]
        #[search(alphanumeric)]
        isbn: String,
    }

    #[projection]
    impl BookCopy {
        fn purchased(_: &BookPurchasedEvent) -> Self {
            unimplemented!()
        }
    }
}

fn main() {}
