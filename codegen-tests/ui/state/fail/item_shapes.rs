//! Cases of `state`: item shapes.

mod a_generic_struct {
    //! A state is of one type.

    use es_framework::prelude::*;

    #[derive(State)]
    struct Book<T> {
        copies: T,
    }
}

mod a_lifetime {
    //! A state borrows nothing.

    use es_framework::prelude::*;

    #[derive(State)]
    struct Book<'a> {
        title: &'a str,
    }
}

mod a_reference {
    //! A state borrows nothing, not even for ever.

    use es_framework::prelude::*;

    #[derive(State)]
    struct Book {
        title: &'static str,
    }
}

mod a_union {
    //! A union has no JSON.

    use es_framework::prelude::*;

    #[derive(State)]
    union Book {
        copies: u32,
        readers: u32,
    }
}

mod a_where_clause {
    //! A state is one type, which is always there.

    use es_framework::prelude::*;

    #[derive(State)]
    struct Book
    where
        u8: Copy,
    {
        copies: u8,
    }

    #[evolve]
    impl Book {
        fn purchased(_: &BookPurchasedEvent) -> Self {
            Self { copies: 1 }
        }
    }

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {}
}

mod an_empty_enum {
    //! A state that can never be.

    use es_framework::prelude::*;

    #[derive(State)]
    enum Book {}
}

fn main() {}
