//! Cases of `command`: paths.

mod internal_with_a_path {
    //! An internal command is posted nowhere.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", internal, path = "/books/remind")]
    struct RemindReaderCommand {
        id: Uuid,
    }

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct ReaderRemindedEvent {}

    #[handler]
    fn remind(_: RemindReaderCommand) -> ReaderRemindedEvent {
        ReaderRemindedEvent {}
    }
}

mod internal_with_a_role {
    //! An internal command is posted by nobody.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", internal, role = "staff")]
    struct RemindReaderCommand {
        id: Uuid,
    }

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct ReaderRemindedEvent {}

    #[handler]
    fn remind(_: RemindReaderCommand) -> ReaderRemindedEvent {
        ReaderRemindedEvent {}
    }
}

mod internal_with_a_value {
    //! A command is internal or it is not.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", internal = true)]
    struct RemindReaderCommand {
        id: Uuid,
    }

    #[derive(Event)]
    #[event(package = "com.example.tests")]
    struct ReaderRemindedEvent {}

    #[handler]
    fn remind(_: RemindReaderCommand) -> ReaderRemindedEvent {
        ReaderRemindedEvent {}
    }
}

mod name_that_ends_no_path {
    //! A verb that cannot stand in a path.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct ÄndereBuchCommand {
        id: Uuid,
    }
}

mod path_with_invalid_character {
    //! A character that paths do not have.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", path = "/books?buy")]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod path_with_number {
    //! A path parameter that is a number.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", path = "/books/{id}/purchase")]
    struct PurchaseBookCommand {
        id: u64,
    }
}

mod path_with_unknown_field {
    //! A path parameter that is no field.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", path = "/books/{isbn}/purchase")]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod path_without_slash {
    //! A path that does not start with a slash.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", path = "books/purchase")]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod role_of_two_words {
    //! A role that is two words.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", role = "staff, reader")]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod role_without_token_without_a_role {
    //! The key that silences a warning about a role, without a role.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", role_without_token)]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod role_without_token_with_a_value {
    //! The key that silences a warning about a role, with a value.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", role = "staff", role_without_token = true)]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod role_without_quotation_marks {
    //! A role that is no text.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", role = staff)]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

fn main() {}
