//! Cases of `event`: attributes.

mod command_attribute {
    //! An attribute of commands on an event.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    #[command(subject = "/books/{id}")]
    struct BookPurchasedEvent {
        id: Uuid,
    }
}

mod duplicate_key {
    //! A key that is given twice.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", package = "com.example.stock")]
    struct BookPurchasedEvent {
        id: Uuid,
    }
}

mod event_attribute_on_a_field {
    //! An attribute of the struct on a field.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        #[event(name = "x")]
        isbn: String,
    }
}

mod informational_with_a_value {
    //! A flag with a value.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", informational = true)]
    struct BookPurchasedEvent {
        id: Uuid,
    }
}

mod invalid_name {
    //! A name that no type has.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", name = "Book purchased")]
    struct BookPurchasedEvent {
        id: Uuid,
    }
}

mod misspelt_key {
    //! A key that is spelt otherwise.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(packge = "com.example.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }
}

mod name_that_ends_no_type {
    //! A struct whose name no type has.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BuchGekauftÄ {
        id: Uuid,
    }
}

mod unknown_key {
    //! A key that does not exist.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library", table = "books")]
    struct BookPurchasedEvent {
        id: Uuid,
    }
}

mod validate_on_a_field {
    //! A rule for what has happened.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        #[validate(text(max = 32))]
        isbn: String,
    }
}

fn main() {}
