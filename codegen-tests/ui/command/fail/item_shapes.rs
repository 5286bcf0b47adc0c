//! Cases of `command`: item shapes.

mod a_generic_struct {
    //! A command with a type parameter.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand<T> {
        id: T,
    }
}

mod a_lifetime {
    //! A command that borrows.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{isbn}")]
    struct PurchaseBookCommand<'a> {
        isbn: std::borrow::Cow<'a, str>,
    }
}

mod a_reference {
    //! A field that borrows.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{isbn}")]
    struct PurchaseBookCommand {
        isbn: &'static str,
    }
}

mod a_tuple_struct {
    //! A command whose fields have no names.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand(Uuid, String);
}

mod a_union {
    //! A command that is a union.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    union BookCommand {
        id: u64,
        isbn: u64,
    }
}

mod a_unit_struct {
    //! A command without braces.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/stock")]
    struct CountStockCommand;
}

mod an_enum {
    //! A command that is an enum.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    enum BookCommand {
        Purchase { id: Uuid },
        Remove { id: Uuid },
    }
}

fn main() {}
