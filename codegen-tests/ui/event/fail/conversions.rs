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

fn main() {}
