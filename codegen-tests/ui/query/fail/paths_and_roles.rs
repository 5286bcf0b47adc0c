//! Cases of `query`: paths and roles.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookPurchasedEvent {
    id: Uuid,
    title: String,
}

#[derive(ReadModel)]
#[read_model(table = "book_copies", subject = "/books/{id}")]
struct BookCopy {
    #[key]
    id: Uuid,
    title: String,
}

#[projection]
impl BookCopy {
    fn purchased(event: &BookPurchasedEvent) -> Self {
        Self { id: event.id, title: event.title.clone() }
    }
}

mod no_path {
    //! The path is missing.

    use super::*;

    #[derive(Query)]
    #[query(rows = BookCopy)]
    struct BrowseStock {}
}

mod optional_field_in_the_path {
    //! A field in the path is not optional.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books/{id}", row = BookCopy)]
    struct BrowseStock {
        id: Option<Uuid>,
    }
}

mod path_with_unknown_field {
    //! The path names no field.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books/{idd}", row = BookCopy)]
    struct BrowseStock {
        id: Uuid,
    }
}

mod path_without_slash {
    //! A path starts with a slash.

    use super::*;

    #[derive(Query)]
    #[query(path = "books", rows = BookCopy)]
    struct BrowseStock {}
}

mod role_of_two_words {
    //! A role that is two words.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books/{id}", role = "staff, reader")]
    struct FindCopy {
        id: Uuid,
    }
}

mod role_without_token_without_a_role {
    //! The key that silences a warning about a role, without a role.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books/{id}", role_without_token)]
    struct FindCopy {
        id: Uuid,
    }
}

mod role_without_quotation_marks {
    //! A role that is no text.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books/{id}", role = staff)]
    struct FindCopy {
        id: Uuid,
    }
}

fn main() {}
