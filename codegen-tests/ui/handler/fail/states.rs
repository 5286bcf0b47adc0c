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

mod states_of_no_subjects {
    //! Nothing says whose states these are.

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
        readers: Vec<Uuid>,
    }

    impl PurchaseBookCommand {
        fn readers(&self) -> Vec<Uuid> {
            self.readers.clone()
        }
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
        command: PurchaseBookCommand,
        _books: Vec<Option<&Book>>,
    ) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod states_of_one_subject {
    //! A list has several subjects.

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
        readers: Vec<Uuid>,
    }

    impl PurchaseBookCommand {
        fn readers(&self) -> Vec<Uuid> {
            self.readers.clone()
        }
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
        command: PurchaseBookCommand,
        #[subject("/books/{id}")] _books: Vec<Option<&Book>>,
    ) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod state_of_several_subjects {
    //! Several subjects have a list of states.

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
        readers: Vec<Uuid>,
    }

    impl PurchaseBookCommand {
        fn readers(&self) -> Vec<Uuid> {
            self.readers.clone()
        }
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
        command: PurchaseBookCommand,
        #[subject("/readers/{reader}", reader in PurchaseBookCommand::readers)] _book: &Book,
    ) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod subjects_without_their_value {
    //! The subject is the same for each value.

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
        readers: Vec<Uuid>,
    }

    impl PurchaseBookCommand {
        fn readers(&self) -> Vec<Uuid> {
            self.readers.clone()
        }
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
        command: PurchaseBookCommand,
        #[subject("/books/{id}", reader in PurchaseBookCommand::readers)] _books: Vec<Option<&Book>>,
    ) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod states_that_must_exist {
    //! A subject of a list may have no state.

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
        readers: Vec<Uuid>,
    }

    impl PurchaseBookCommand {
        fn readers(&self) -> Vec<Uuid> {
            self.readers.clone()
        }
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
        command: PurchaseBookCommand,
        #[subject("/readers/{reader}", reader in PurchaseBookCommand::readers)] _books: Vec<&Book>,
    ) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

fn main() {}
