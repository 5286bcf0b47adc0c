//! Cases of `handler`: parameters.

mod arguments {
    //! An attribute with arguments.

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

    #[handler(condition = pristine)]
    fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod clock_by_value {
    //! The clock is lent, too.

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
    fn purchase(command: PurchaseBookCommand, _clock: Clock) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod command_by_reference {
    //! A command that is borrowed.

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
    fn purchase(command: &PurchaseBookCommand) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod foreign_attribute {
    //! A parameter's only attribute is its subject.

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
    fn purchase(#[path("/books")] _book: &Book, command: PurchaseBookCommand) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod impl_parameter {
    //! A command that has no name.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    #[handler]
    fn purchase(command: impl Command) -> BookPurchasedEvent {
        drop(command);
        BookPurchasedEvent { id: Uuid::nil() }
    }
}

mod misspelt_recursive {
    //! A word that nobody knows.

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
    fn purchase(
        #[subject("/readers/{reader}", recusrive)] _book: &Book,
        command: PurchaseBookCommand,
    ) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod no_command {
    //! A decision on nothing.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    #[handler]
    fn purchase() -> BookPurchasedEvent {
        BookPurchasedEvent { id: Uuid::nil() }
    }
}

mod parameter_with_attribute {
    //! A parameter with an attribute.

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
    fn purchase(#[subject("/books/{id}")] command: PurchaseBookCommand) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod several_mistaken_parameters {
    //! All mistaken parameters are reported at once.

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
    fn purchase(
        #[path] _book: &mut Book,
        #[subject("readers")] _reader: Option<&Book>,
        command: PurchaseBookCommand,
        _clock: Clock,
    ) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod tuple_parameter {
    //! A parameter that is no struct.

    use es_framework::prelude::*;

    #[derive(Event)]
    #[event(package = "com.example.library")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    #[handler]
    fn purchase(pair: (Uuid, String)) -> BookPurchasedEvent {
        BookPurchasedEvent { id: pair.0 }
    }
}

mod two_commands {
    //! A decision on two commands.

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

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct BorrowBookCommand {
        id: Uuid,
    }

    #[handler]
    fn purchase(command: PurchaseBookCommand, other: BorrowBookCommand) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

fn main() {}
