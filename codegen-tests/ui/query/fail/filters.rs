//! Cases of `query`: filters.

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

mod filter_without_arguments {
    //! A filter says how.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books", rows = BookCopy)]
    struct BrowseStock {
        #[filter]
        title: Option<String>,
    }
}

mod filter_without_rows {
    //! A query by hand compares nothing by itself.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books")]
    struct BrowseStock {
        #[filter(eq)]
        title: Option<String>,
    }
}

mod misspelt_filter {
    //! A filter is misspelt.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books", rows = BookCopy)]
    struct BrowseStock {
        #[filter(contain)]
        title: Option<String>,
    }
}

mod no_filter {
    //! A field is not compared.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books", rows = BookCopy)]
    struct BrowseStock {
        title: Option<String>,
    }
}

mod filter_with_two_arguments {
    //! The field of the row is in the parentheses of the comparison.

    use es_framework::prelude::*;

    #[derive(Query)]
    #[query(path = "/books", rows = BookCopy)]
    struct BrowseStock {
        #[filter(at_least, num_pages)]
        pages: Option<u32>,
    }
}

mod two_filters {
    //! A field is compared once.

    use super::*;

    #[derive(Query)]
    #[query(path = "/books", rows = BookCopy)]
    struct BrowseStock {
        #[filter(eq)]
        #[filter(contains)]
        title: Option<String>,
    }
}

fn main() {}
