//! Handlers without a body that need one.

use es_framework::prelude::*;

#[derive(State)]
struct Book {}

#[evolve]
impl Book {
    fn purchased(_: &BookPurchasedEvent) -> Self {
        Self {}
    }
}

macro_rules! commands {
    ($($name:ident)*) => {$(
        #[derive(Command)]
        #[command(subject = "/books/{id}")]
        struct $name {
            id: Uuid,
        }
    )*};
}

commands!(PurchaseBookCommand DonateBookCommand FindBookCommand CountBookCommand SellBookCommand);

#[derive(Event)]
#[event(package = "com.example.library", from(PurchaseBookCommand, DonateBookCommand, FindBookCommand))]
struct BookPurchasedEvent {
    id: Uuid,
}

mod another_parameter {
    //! It decides on a state.

    use super::*;

    #[handler]
    fn purchase(command: PurchaseBookCommand, book: Option<&Book>) -> BookPurchasedEvent;
}

mod no_command {
    //! It takes no command.

    use super::*;

    #[handler]
    fn purchase() -> BookPurchasedEvent;
}

mod no_event {
    //! It returns no event.

    use super::*;

    #[handler]
    fn donate(command: DonateBookCommand);
}

mod command_by_reference {
    //! It takes a reference.

    use super::*;

    #[handler]
    fn count(command: &CountBookCommand) -> BookPurchasedEvent;
}

mod perhaps_an_event {
    //! It returns an event or none.

    use super::*;

    #[handler]
    fn sell(command: SellBookCommand) -> Option<BookPurchasedEvent>;
}

mod unnamed_command {
    //! Its command has no name.

    use super::*;

    #[handler]
    fn find(_: FindBookCommand) -> BookPurchasedEvent;
}

fn main() {}
