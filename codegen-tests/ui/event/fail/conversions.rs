//! Cases of `event`: conversions.

mod from_a_text {
    //! A command in quotation marks.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        num_pages: u32,
    }

    #[derive(Event)]
    #[event(package = "com.example.library", from = "PurchaseBookCommand")]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    #[handler]
    fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent {
        command.into()
    }
}

mod from_nothing {
    //! No command.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        num_pages: u32,
    }

    #[derive(Event)]
    #[event(package = "com.example.library", from())]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    #[handler]
    fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent {
        BookPurchasedEvent { id: command.id }
    }
}

mod from_twice {
    //! A command that is named twice.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand {
        id: Uuid,
        num_pages: u32,
    }

    #[derive(Event)]
    #[event(package = "com.example.library", from(PurchaseBookCommand, PurchaseBookCommand))]
    struct BookPurchasedEvent {
        id: Uuid,
    }

    #[handler]
    fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent {
        command.into()
    }
}

mod from_commands_with_mistakes {
    //! The mistakes are in the commands alone, so nothing is said of the event's fields.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}", conditon = pristine)]
    struct PurchaseBookCommand {
        id: Uuid,
        num_pages: u32,
    }

    #[derive(Command)]
    #[command(subject = "/books/{hall}")]
    struct DonateBookCommand {
        id: Uuid,
        num_pages: u32,
    }

    #[derive(Command)]
    #[command(subject = "/books/{id}", owner = id)]
    struct LendBookCommand {
        id: Uuid,
        num_pages: u32,
    }

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PrintBookCommand {
        id: Uuid,
        num_pages: u32,
        #[validate(pattern("\\d"))]
        isbn: String,
    }

    #[derive(Event)]
    #[event(
        package = "com.example.library",
        from(PurchaseBookCommand, DonateBookCommand, LendBookCommand, PrintBookCommand)
    )]
    struct BookAddedEvent {
        id: Uuid,
        num_pages: u32,
    }
}

mod from_a_command_with_parameters {
    //! The compiler reports the missing argument where the event names the command, and at no field.

    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    struct PurchaseBookCommand<T> {
        id: Uuid,
        title: T,
    }

    #[derive(Event)]
    #[event(package = "com.example.library", from = PurchaseBookCommand)]
    struct BookPurchasedEvent {
        id: Uuid,
        title: String,
    }
}

fn main() {}
