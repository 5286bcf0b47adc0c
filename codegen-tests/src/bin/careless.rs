//! A service with every probable mistake, and with each of them silenced.
//! `tests/declarations/start_checks.rs` reads its warnings.

#![allow(missing_docs, reason = "the tests are what it is for")]

use es_framework::{App, prelude::*};

#[derive(Command)]
#[command(subject = "/books/{id}", condition = pristine, role = "staff")]
pub struct PurchaseBookCommand {
    pub id: Uuid,
}

#[derive(Event)]
pub struct BookPurchasedEvent {}

#[handler]
fn purchase(_: PurchaseBookCommand) -> (BookPurchasedEvent, BookPricedEvent, BookAuditedEvent) {
    (
        BookPurchasedEvent {},
        BookPricedEvent {},
        BookAuditedEvent {},
    )
}

/// Nothing consumes this event.
#[derive(Event)]
pub struct BookPricedEvent {}

/// Nothing has to consume this event.
#[derive(Event)]
#[event(informational)]
pub struct BookAuditedEvent {}

/// Nothing publishes this public event.
#[derive(PublicEvent)]
pub struct BookPriced {}

#[derive(State)]
pub struct Book {}

#[evolve]
impl Book {
    fn purchased(_: &BookPurchasedEvent) -> Self {
        Self {}
    }
}

#[derive(Command)]
#[command(subject = "/books/{id}", internal)]
pub struct CountBookCommand {
    pub id: Uuid,
}

/// A reaction consumes this event, and the state of its subject ignores it.
#[derive(Event)]
pub struct BookCountedEvent {
    pub id: Uuid,
}

#[handler]
fn count(_book: &Book, command: CountBookCommand) -> Option<BookCountedEvent> {
    Some(BookCountedEvent { id: command.id })
}

/// Starts itself for ever.
pub struct Recount;

#[reaction]
impl Recount {
    fn again(event: &BookCountedEvent) -> CountBookCommand {
        CountBookCommand { id: event.id }
    }
}

/// Starts itself, which its handler ends.
pub struct LastCount;

#[reaction(repeats)]
impl LastCount {
    fn again(event: &BookCountedEvent) -> Option<CountBookCommand> {
        let id = event.id;
        (id == Uuid::nil()).then_some(CountBookCommand { id })
    }
}

/// No handler has to take them.
#[derive(Settings)]
#[settings(unused)]
pub struct Discounts {
    /// The discount of a book in percent.
    pub discount: u32,
}

/// No token has its role, which is intended.
#[derive(Query)]
#[query(path = "/shelves", role = "auditor", role_without_token)]
pub struct ListShelves {}

impl QueryHandler for ListShelves {
    type Output = Vec<String>;

    async fn handle(self, _: &QueryContext<'_>) -> Result<Vec<String>, QueryError> {
        Ok(vec![])
    }
}

/// No handler takes them.
#[derive(Settings)]
pub struct Prices {
    /// The price of a book.
    pub price_cents: i64,
}

fn main() -> es_framework::Result<()> {
    App::new("careless").run()
}
