//! Cases of `service`: item shapes.

mod a_generic_struct {
    //! A service is found by its type.

    use es_framework::prelude::*;

    #[derive(Service)]
    struct Rates<T> {
        rates: Vec<T>,
    }
}

mod a_lifetime {
    //! A service lives as long as the application.

    use es_framework::prelude::*;

    #[derive(Service)]
    struct Rates<'a> {
        rates: &'a [u32],
    }
}

mod a_where_clause {
    //! A service is found by its type, which is always there.

    use es_framework::prelude::*;

    #[derive(Service)]
    struct Rates
    where
        u8: Copy,
    {
        rates: Vec<u8>,
    }
}

fn main() {}
