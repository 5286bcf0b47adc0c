//! Cases of `rejection`: details.

mod detail_with_closing_brace {
    //! A sentence with a brace too many at the end.

    use es_framework::prelude::*;

    #[derive(Debug, Rejection)]
    enum LendingError {
        #[rejection(conflict, detail = "lent until due_at}")]
        CopyIsLent { due_at: String },
    }
}

mod detail_with_dynamic_width {
    //! A sentence with a width that is no number.

    use es_framework::prelude::*;

    #[derive(Debug, Rejection)]
    enum LendingError {
        #[rejection(conflict, detail = "lent until {due_at:width$}")]
        CopyIsLent { due_at: String, width: usize },
    }
}

mod detail_with_open_brace {
    //! A sentence with a brace too many.

    use es_framework::prelude::*;

    #[derive(Debug, Rejection)]
    enum LendingError {
        #[rejection(conflict, detail = "lent until {due_at")]
        CopyIsLent { due_at: String },
    }
}

mod detail_with_positional_field {
    //! A sentence that does not name the field that it shows.

    use es_framework::prelude::*;

    #[derive(Debug, Rejection)]
    enum LendingError {
        #[rejection(conflict, detail = "lent until {}")]
        CopyIsLent { due_at: String },
    }
}

mod detail_with_unknown_field {
    //! A sentence that shows a field that is not there.

    use es_framework::prelude::*;

    #[derive(Debug, Rejection)]
    enum LendingError {
        #[rejection(conflict, detail = "lent until {dueat}")]
        CopyIsLent { due_at: String },
    }
}

mod detail_without_text {
    //! A sentence that is no text.

    use es_framework::prelude::*;

    #[derive(Debug, Rejection)]
    enum LendingError {
        #[rejection(conflict, detail)]
        CopyIsLent,
    }
}

fn main() {}
