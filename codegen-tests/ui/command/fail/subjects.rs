//! Cases of `command`: subjects.

mod no_subject {
    //! A command with a condition on nothing.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(condition = pristine)]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod subject_ends_with_slash {
    //! A subject that ends with a slash.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}/")]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod subject_that_is_no_text {
    //! A value of the wrong type.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = 42)]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod subject_with_empty_braces {
    //! Braces without a field.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{}")]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod subject_with_empty_segment {
    //! Two slashes in a row.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books//{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod subject_with_field_twice {
    //! A field that stands there twice.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod subject_with_half_a_segment {
    //! A field that shares its segment.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/book-{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod subject_with_invalid_character {
    //! A character that no subject has.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/my books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod subject_with_misspelt_field {
    //! A field that is spelt otherwise.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{isbm}")]
    struct PurchaseBookCommand {
        isbn: String,
        title: String,
    }
}

mod subject_with_optional_field {
    //! A field that may be absent.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Option<Uuid>,
    }
}

mod subject_with_unclosed_brace {
    //! A brace that is never closed.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id")]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod subject_with_unknown_field {
    //! A field that does not exist.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{reader}")]
    struct PurchaseBookCommand {
        id: Uuid,
        title: String,
    }
}

mod subject_with_unopened_brace {
    //! A brace that was never opened.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/id}")]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod subject_without_any_field {
    //! A field in the subject of a command that has none.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {}
}

mod subject_without_head {
    //! A subject that gives no path.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod subject_without_slash {
    //! A subject that does not start with a slash.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod subject_without_value {
    //! A key without its value.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject)]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod required_own_subject {
    //! The command's own subject, which has a condition.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", exists = "/books/{id}")]
    struct BorrowBookCommand {
        id: Uuid,
    }
}

mod required_subjects {
    //! Other subjects that name no field, an optional field, or the same subject twice.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", exists = ["/clubs/{club}", "/readers/{reader}", "/readers/{reader}", exists])]
    struct BorrowBookCommand {
        id: Uuid,
        reader: Option<Uuid>,
    }
}

fn main() {}
