//! Cases of `query_handler`.

mod another_argument {
    //! The attribute has one argument.

    use es_framework::prelude::*;

    #[derive(Query)]
    #[query(path = "/books/count")]
    struct CountBooks {}

    #[query_handler(read = [Book])]
    async fn count(_: CountBooks) -> Result<u64, QueryError> {
        Ok(0)
    }
}

mod answer_without_an_error {
    //! A query can fail.

    use es_framework::prelude::*;

    #[derive(Query)]
    #[query(path = "/books/count")]
    struct CountBooks {}

    #[query_handler]
    async fn count(_: CountBooks) -> u64 {
        0
    }
}

mod block {
    //! A query handler is a function.

    use es_framework::prelude::*;

    #[derive(Query)]
    #[query(path = "/books/count")]
    struct CountBooks {}

    #[query_handler]
    impl CountBooks {}
}

mod context_by_value {
    //! Everything else is a reference.

    use es_framework::prelude::*;

    #[derive(Query)]
    #[query(path = "/books/count")]
    struct CountBooks {}

    #[query_handler]
    async fn count(_: CountBooks, context: QueryContext<'_>) -> Result<u64, QueryError> {
        Ok(0)
    }
}

mod function_that_does_not_wait {
    //! The database answers later.

    use es_framework::prelude::*;

    #[derive(Query)]
    #[query(path = "/books/count")]
    struct CountBooks {}

    #[query_handler]
    fn count(_: CountBooks) -> Result<u64, QueryError> {
        Ok(0)
    }
}

mod no_query {
    //! A query handler takes its query.

    use es_framework::prelude::*;

    #[derive(Query)]
    #[query(path = "/books/count")]
    struct CountBooks {}

    #[query_handler]
    async fn count() -> Result<u64, QueryError> {
        Ok(0)
    }
}

mod query_by_reference {
    //! The query is taken by value.

    use es_framework::prelude::*;

    #[derive(Query)]
    #[query(path = "/books/count")]
    struct CountBooks {}

    #[query_handler]
    async fn count(_: &CountBooks, context: &QueryContext<'_>) -> Result<u64, QueryError> {
        Ok(0)
    }
}

mod read_model_in_quotation_marks {
    //! A read model is a type.

    use es_framework::prelude::*;

    #[derive(Query)]
    #[query(path = "/books/count")]
    struct CountBooks {}

    #[query_handler(reads = ["books"])]
    async fn count(_: CountBooks) -> Result<u64, QueryError> {
        Ok(0)
    }
}

fn main() {}
