//! Cases of `handler`: states.

mod optional_state_by_value {
    //! A state that there may be belongs to the framework as well.

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
    fn purchase(command: PurchaseBookCommand, _book: Option<Book>) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod reference_to_an_optional_state {
    //! The `Option` stands outside of the reference.

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
    fn purchase(command: PurchaseBookCommand, _book: &Option<Book>) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod state_by_mutable_reference {
    //! A handler decides and changes nothing.

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
    fn purchase(_book: &mut Book, command: PurchaseBookCommand) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod state_by_value {
    //! A state belongs to the framework.

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
    fn purchase(command: PurchaseBookCommand, _book: Book) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod state_by_value_before_the_command {
    //! A state belongs to the framework, also before the command.

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
    fn purchase(_book: Book, command: PurchaseBookCommand) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod a_list_of_states {
    //! A handler names each state.

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
    fn purchase(_books: &[Book], command: PurchaseBookCommand) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

fn main() {}
