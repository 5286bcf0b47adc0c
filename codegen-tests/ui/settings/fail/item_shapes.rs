//! Cases of `settings`: item shapes.

mod a_generic_struct {
    //! Settings are found by their type.

    use es_framework::prelude::*;

    #[derive(Settings)]
    struct Lending<T> {
        /// How long a copy is lent.
        loan_days: T,
    }
}

mod a_tuple_struct {
    //! A field without a name is no flag.

    use es_framework::prelude::*;

    #[derive(Settings)]
    struct Lending(u32);
}

mod an_enum {
    //! Settings are all there at once.

    use es_framework::prelude::*;

    #[derive(Settings)]
    enum Lending {
        Days,
    }
}

fn main() {}
