//! Cases of `handler`: subjects.

mod subject_in_no_quotation_marks {
    //! The subject is a text.

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
        #[subject(/readers/{reader})] _book: &Book,
        command: PurchaseBookCommand,
    ) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod subject_with_a_number {
    //! A field that can be none.

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
        #[subject("/readers/{0}")] _book: &Book,
        command: PurchaseBookCommand,
    ) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod subject_with_a_value {
    //! The subject stands in parentheses.

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
        #[subject = "/readers/{reader}"] _book: &Book,
        command: PurchaseBookCommand,
    ) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod subject_without_anything {
    //! A subject that is not named.

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
    fn purchase(#[subject()] _book: &Book, command: PurchaseBookCommand) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod subject_without_parentheses {
    //! A subject that is not named.

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
    fn purchase(#[subject] _book: &Book, command: PurchaseBookCommand) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod subject_without_slash {
    //! A malformed subject.

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
        #[subject("readers/{reader}")] _book: &Book,
        command: PurchaseBookCommand,
    ) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod two_subjects {
    //! A state of two subjects.

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
        #[subject("/books/{id}")] #[subject("/readers/{reader}")] _book: &Book,
        command: PurchaseBookCommand,
    ) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod two_words_behind_the_subject {
    //! More than one word.

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
        #[subject("/readers/{reader}", recursive, optional)] _book: &Book,
        command: PurchaseBookCommand,
    ) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

fn main() {}
