//! Cases of `rejection`: item shapes.

mod a_generic_enum {
    //! A rejection with a type parameter.

    use es_framework::prelude::*;

    #[derive(Debug, Rejection)]
    enum LendingError<T> {
        #[rejection(conflict)]
        CopyIsLent { due_at: T },
    }
}

mod a_union {
    //! A union.

    use es_framework::prelude::*;

    #[derive(Rejection)]
    union LendingError {
        due_at: u32,
        reader: u64,
    }
}

mod an_empty_enum {
    //! A rejection that can refuse nothing.

    use es_framework::prelude::*;

    #[derive(Debug, Rejection)]
    enum LendingError {}
}

mod unnamed_fields {
    //! A refusal whose fields have no names.

    use es_framework::prelude::*;

    #[derive(Debug, Rejection)]
    enum LendingError {
        #[rejection(conflict)]
        CopyIsLent(String),
    }
}

fn main() {}
