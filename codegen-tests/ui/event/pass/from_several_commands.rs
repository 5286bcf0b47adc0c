//! An event that takes its fields from several commands, which have more fields than it, and an event
//! without fields.

use es_framework::prelude::*;

mod purchase {
    use es_framework::prelude::*;

    #[derive(Command)]
    #[command(subject = "/books/{id}")]
    pub struct PurchaseBookCommand {
        pub id: Uuid,
        pub r#type: Option<String>,
        pub price_cents: i64,
    }

    #[handler]
    fn purchase(command: PurchaseBookCommand) -> (super::BookAddedEvent, super::StockChangedEvent) {
        (command.clone().into(), command.into())
    }
}

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct DonateBookCommand {
    id: Uuid,
    r#type: Option<String>,
}

#[derive(Debug, PartialEq, Event)]
#[event(package = "com.example.library", from(purchase::PurchaseBookCommand, DonateBookCommand))]
struct BookAddedEvent {
    id: Uuid,
    #[serde(rename = "kind")]
    r#type: Option<String>,
}

#[derive(Event)]
#[event(package = "com.example.library", from = purchase::PurchaseBookCommand)]
struct StockChangedEvent {}

#[handler]
fn donate(command: DonateBookCommand) -> BookAddedEvent {
    command.into()
}

#[test]
fn the_event_has_the_values_of_the_command() {
    let (id, r#type) = (Uuid::from_u128(1), Some("novel".to_owned()));
    let donate = DonateBookCommand { id, r#type: r#type.clone() };
    assert_eq!(BookAddedEvent::from(donate), BookAddedEvent { id, r#type });
}
