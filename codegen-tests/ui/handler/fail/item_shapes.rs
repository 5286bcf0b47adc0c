//! Cases of `handler`: item shapes.

mod a_struct {
    //! A handler that is no function.

    use es_framework::prelude::*;

    #[handler]
    struct Purchase;
}

mod a_text {
    //! Texts are fields of the command.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        reader: Uuid,
    }

    #[derive(State)]
    struct Book {
        copies: u32,
    }

    #[evolve]
    impl Book {
        fn purchased(_: &BookPurchasedEvent) -> Self {
            Self { copies: 1 }
        }
    }

    #[handler]
    fn purchase(_title: &str, command: PurchaseBookCommand) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod a_trait_object {
    //! A parameter is found by its type.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        reader: Uuid,
    }

    #[derive(State)]
    struct Book {
        copies: u32,
    }

    #[evolve]
    impl Book {
        fn purchased(_: &BookPurchasedEvent) -> Self {
            Self { copies: 1 }
        }
    }

    trait Printer: Send + Sync {}

    #[handler]
    fn purchase(_printer: &dyn Printer, command: PurchaseBookCommand) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod a_where_clause {
    //! A handler is one function, which is always there.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct BorrowBookCommand {
        id: Uuid,
    }

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookBorrowedEvent {
        id: Uuid,
    }

    #[handler]
    fn borrow(command: BorrowBookCommand) -> BookBorrowedEvent
    where
        u8: Copy,
    {
        BookBorrowedEvent { id: command.id }
    }
}

mod an_impl {
    //! A handler that is an `impl`.

    use es_framework::prelude::*;

    struct Shop;

    #[handler]
    impl Shop {
        fn purchase(&self) {}
    }
}

mod async_function {
    //! A decision that waits.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
    }

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    #[handler]
    async fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod extern_function {
    //! A function for other languages.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
    }

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    #[handler]
    extern "C" fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod generic_function {
    //! A decision on any command.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    #[handler]
    fn purchase<C: Command>(command: C) -> BookPurchasedEvent {
        drop(command);
        BookPurchasedEvent { id: Uuid::nil() }
    }
}

mod method {
    //! A method.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
    }

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    struct Shop;

    impl Shop {
        #[handler]
        fn purchase(&self, command: PurchaseBookCommand) -> BookPurchasedEvent {
            BookPurchasedEvent { id: command.id }
        }
    }
}

mod unsafe_function {
    //! A function that safe code cannot call.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
    }

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    #[handler]
    unsafe fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

fn main() {}
