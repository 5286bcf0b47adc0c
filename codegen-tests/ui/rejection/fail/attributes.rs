//! Cases of `rejection`: attributes.

mod attribute_on_a_field {
    //! The attribute on a field.

    use es_framework::prelude::*;

    #[derive(Debug, Rejection)]
    enum LendingError {
        #[rejection(conflict)]
        CopyIsLent {
            #[rejection(detail = "…")]
            due_at: String,
        },
    }
}

mod attribute_on_the_enum {
    //! The attribute above the enum.

    use es_framework::prelude::*;

    #[derive(Debug, Rejection)]
    #[rejection(conflict)]
    enum LendingError {
        #[rejection(gone)]
        CopyRemoved,
    }
}

mod empty_title {
    //! A title that says nothing.

    use es_framework::prelude::*;

    #[derive(Debug, Rejection)]
    enum LendingError {
        #[rejection(conflict, title = " ")]
        CopyIsLent,
    }
}

mod misspelt_sort {
    //! A sort that is spelt otherwise.

    use es_framework::prelude::*;

    #[derive(Debug, Rejection)]
    enum LendingError {
        #[rejection(conflct)]
        CopyIsLent,
    }
}

mod name_with_invalid_character {
    //! A name that is not in kebab-case.

    use es_framework::prelude::*;

    #[derive(Debug, Rejection)]
    enum LendingError {
        #[rejection(conflict, name = "CopyIsLent")]
        CopyIsLent,
    }
}

mod no_sort {
    //! A refusal that does not say what sort it is.

    use es_framework::prelude::*;

    #[derive(Debug, Rejection)]
    enum LendingError {
        CopyIsLent,
    }
}

mod one_name_twice {
    //! Two refusals of one name.

    use es_framework::prelude::*;

    #[derive(Debug, Rejection)]
    enum LendingError {
        #[rejection(conflict)]
        CopyIsLent,
        #[rejection(gone, name = "copy-is-lent")]
        CopyIsGone,
    }
}

mod sort_with_a_value {
    //! A sort that is given a value.

    use es_framework::prelude::*;

    #[derive(Debug, Rejection)]
    enum LendingError {
        #[rejection(conflict = "lent")]
        CopyIsLent,
    }
}

mod status_instead_of_sort {
    //! A word that does not exist.

    use es_framework::prelude::*;

    #[derive(Debug, Rejection)]
    enum LendingError {
        #[rejection(status = 409)]
        CopyIsLent,
    }
}

mod two_sorts {
    //! A refusal of two sorts.

    use es_framework::prelude::*;

    #[derive(Debug, Rejection)]
    enum LendingError {
        #[rejection(conflict, gone)]
        CopyIsLent,
    }
}

mod variant_that_is_no_name {
    //! A variant whose name does not become one for programs.

    use es_framework::prelude::*;

    #[derive(Debug, Rejection)]
    enum LendingError {
        #[rejection(conflict)]
        Größe,
    }
}

fn main() {}
