//! Cases of `command`: attributes.

mod attribute_that_is_no_list {
    //! An attribute that cannot be read.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}" condition = pristine)]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod attribute_without_parentheses {
    //! A subject in the place of the parentheses.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command = "/books/{id}"]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod command_attribute_on_a_field {
    //! An attribute of the struct on a field.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        #[command(path = "/books/buy")]
        id: String,
    }
}

mod duplicate_key {
    //! A key that is given twice.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    #[command(subject = "/copies/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod event_attribute {
    //! An attribute of events on a command.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    #[event(package = "com.example.library")]
    struct PurchaseBookCommand {
        id: String,
    }
}

mod framework_path_that_is_none {
    //! A crate that is no path.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    #[es(crate = "es framework")]
    struct PurchaseBookCommand {
        id: String,
    }
}

mod misspelt_key {
    //! A key that is spelt otherwise.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(sujbect = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod no_attribute {
    //! A command that does not say what it is about.

    use es_framework::prelude::*;

    #[derive(Command)]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

mod unknown_key {
    //! A key that does not exist.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", table = "books")]
    struct PurchaseBookCommand {
        id: Uuid,
    }
}

fn main() {}
