//! Cases of `query`: the sort orders that clients choose.

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

mod choice_given_twice {
    //! A field is one choice.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books", rows = BookCopy, sort = [title, title])]
    struct BrowseStock {}
}

mod choices_of_a_field_with_their_name {
    //! The sort order is a parameter of its own.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books", rows = BookCopy, sort = [title])]
    struct BrowseStock {
        #[filter(eq(title))]
        sort: Option<String>,
    }
}

mod choices_of_one_row {
    //! One row has no order.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books/{id}", row = BookCopy, sort = [title])]
    struct BrowseStock {
        id: Uuid,
    }
}

mod choices_that_are_no_fields {
    //! Clients choose both directions of a field.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books", rows = BookCopy, sort = [descending(title), "title"])]
    struct BrowseStock {}
}

mod no_choices {
    //! There is a choice.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books", rows = BookCopy, sort = [])]
    struct BrowseStock {}
}

fn main() {}
