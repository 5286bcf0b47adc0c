//! Cases of `event`: read model rows.

mod invalid_read_model {
    //! A name that no table has.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", read_model = "Books")]
    struct BookPurchasedEvent {
        id: Uuid,
    }
}

mod read_model_with_an_invalid_column {
    //! A name that no column has.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", read_model = "books")]
    struct BookPurchasedEvent {
        #[serde(rename = "größe")]
        größe: i64,
    }
}

mod read_model_with_one_column_twice {
    //! Two fields in one column.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", read_model = "books")]
    struct BookPurchasedEvent {
        num_pages: i64,
        #[serde(rename = "pages")]
        num__pages: i64,
    }
}

mod read_model_without_columns {
    //! A row of nothing.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", read_model = "books")]
    struct BookPurchasedEvent {}
}

fn main() {}
