//! Cases of `value`: item shapes.

mod a_generic_struct {
    //! A value is of one type.

    use es_framework::prelude::*;

    #[derive(Value)]
    struct Price<T> {
        cents: T,
    }
}

mod a_lifetime {
    //! A value borrows nothing.

    use es_framework::prelude::*;

    #[derive(Value)]
    struct Price<'a> {
        currency: &'a str,
    }
}

mod a_reference {
    //! A value borrows nothing, not even for ever.

    use es_framework::prelude::*;

    #[derive(Value)]
    struct Price {
        currency: &'static str,
    }
}

mod a_union {
    //! A union has no JSON.

    use es_framework::prelude::*;

    #[derive(Value)]
    union Price {
        cents: u32,
        euros: u32,
    }
}

mod an_empty_enum {
    //! A value that can never be.

    use es_framework::prelude::*;

    #[derive(Value)]
    enum Price {}
}

fn main() {}
