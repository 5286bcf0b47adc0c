//! Cases of `handler`: return types.

mod impl_return_type {
    //! An event that has no name.

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
    fn purchase(command: PurchaseBookCommand) -> impl Event {
        BookPurchasedEvent { id: command.id }
    }
}

mod no_return_type {
    //! A decision without an event.

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
    fn purchase(command: PurchaseBookCommand) {
        drop(command);
    }
}

mod unit_return_type {
    //! A decision on nothing.

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
    fn purchase(command: PurchaseBookCommand) -> () {
        drop(command);
    }
}

fn main() {}
