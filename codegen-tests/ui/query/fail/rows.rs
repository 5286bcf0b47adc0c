//! Cases of `query`: rows.

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

mod list_compared_as_one {
    //! A list holds several values.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books", rows = BookCopy)]
    struct BrowseStock {
        #[filter(eq)]
        title: Vec<String>,
    }
}

mod misspelt_key {
    //! A key of the attribute is misspelt.

    use super::*;

    #[derive(Query)]
    #[query(pat = "/books", rows = BookCopy)]
    struct BrowseStock {}
}

mod one_of_without_a_list {
    //! Several values are a list.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books", rows = BookCopy)]
    struct BrowseStock {
        #[filter(one_of)]
        title: Option<String>,
    }
}

mod order_of_one_row {
    //! One row is in order.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books/{id}", row = BookCopy, order = title)]
    struct BrowseStock {
        id: Uuid,
    }
}

mod order_that_is_no_field {
    //! Rows are sorted by a field.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books", rows = BookCopy, order = "title")]
    struct BrowseStock {}
}

mod parameter_of_the_paging {
    //! The paging has parameters of its own.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books", rows = BookCopy)]
    struct BrowseStock {
        #[filter(eq(title))]
        limit: Option<String>,
    }
}

mod rows_and_row {
    //! A query has one answer.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books", rows = BookCopy, row = BookCopy)]
    struct BrowseStock {}
}

mod rows_in_quotation_marks {
    //! A read model is a type.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books", rows = "BookCopy")]
    struct BrowseStock {}
}

fn main() {}
