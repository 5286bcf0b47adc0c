//! Wrong uses of `role = public`, for callers without a token.

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

mod among_roles {
    use super::*;

    #[derive(Query)]
    #[query(path = "/books/{id}", row = BookCopy, role = [public, "staff"])]
    struct FindCopy {
        id: Uuid,
    }
}

mod with_an_owner {
    use super::*;

    #[derive(Query)]
    #[query(path = "/books/{id}", row = BookCopy, role = public, owner = id)]
    struct FindCopy {
        id: Uuid,
    }
}

mod viewer_of_a_column {
    use super::*;

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct BookLentEvent {
        id: Uuid,
    }

    #[derive(ReadModel)]
    #[read_model(table = "loans", subject = "/books/{id}")]
    struct Loan {
        #[key]
        id: Uuid,
        #[visible(role = public)]
        reader: Option<Uuid>,
    }

    #[projection]
    impl Loan {
        fn lent(event: &BookLentEvent) -> Self {
            Self { id: event.id, reader: None }
        }
    }
}

fn main() {}
