//! A decision on events that an earlier version of the application stored.
#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

use std::sync::Arc;

use es_framework::{
    catalog::Catalog,
    command::{CommandContext, CommandDescriptor, CommandRequest, CommandResources},
    event::{EventCandidate, encode},
    prelude::*,
    store::{EventLog as _, memory::MemoryStore},
};
use serde_json::json;

/// The event before a price had a currency.
#[derive(Event)]
#[event(name = "BookPricedEvent")]
struct BookPricedV1 {
    price: String,
}

#[derive(Event)]
#[event(version = 2)]
struct BookPricedEvent {
    cents: i64,
}

/// An event of an earlier version that has no meaning today.
#[derive(Event)]
struct BookScannedEvent {}

#[upcast]
fn a_price_became_cents(old: BookPricedV1) -> BookPricedEvent {
    let cents = old.price.replace('.', "").parse().unwrap_or_default();
    BookPricedEvent { cents }
}

#[upcast]
fn nobody_asks_for_scans(_: BookScannedEvent) {}

#[derive(State)]
struct Price {
    cents: i64,
    changes: u32,
}

#[evolve]
impl Price {
    fn priced(event: &BookPricedEvent) -> Self {
        Self {
            cents: event.cents,
            changes: 0,
        }
    }
}

/// Raises the price of a book.
#[derive(Command)]
#[command(subject = "/prices/{id}", condition = exists)]
struct RaisePriceCommand {
    id: String,
    by: i64,
}

#[handler]
fn raise(command: RaisePriceCommand, price: &Price) -> BookPricedEvent {
    BookPricedEvent {
        cents: price.cents + command.by + i64::from(price.changes),
    }
}

async fn store(store: &MemoryStore, event_type: &str, payload: &serde_json::Value) {
    let candidate = EventCandidate {
        source: "earlier".into(),
        subject: "/prices/p1".parse().unwrap(),
        event_type: event_type.parse().unwrap(),
        data: encode(&Metadata::default(), payload).unwrap(),
        trace: None,
    };
    store.append(vec![candidate], vec![]).await.unwrap();
}

async fn raise_the_price(resources: &CommandResources) -> Result<i64, String> {
    let request = CommandRequest {
        body: br#"{"id":"p1","by":5}"#,
        path_parameters: &[],
        context: &CommandContext::default(),
    };
    let descriptor = CommandDescriptor::of::<RaisePriceCommand>();
    let outcome = descriptor.execute(resources, request).await;
    outcome
        .map(|outcome| outcome.position.unwrap().get().try_into().unwrap())
        .map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_handler_decides_on_old_events_as_on_new_ones() {
    let memory = MemoryStore::new();
    store(
        &memory,
        "com.example.library.BookPricedEvent",
        &json!({ "price": "12.50" }),
    )
    .await;
    store(&memory, "com.example.library.BookScannedEvent", &json!({})).await;
    // The catalog of everything that this program declares, like that of an application.
    let catalog = Catalog::builder().linked().build().unwrap();
    let resources = CommandResources::new(Arc::new(memory.clone()), "today")
        .with_upcasters(catalog.upcasters().clone());

    assert_eq!(raise_the_price(&resources).await, Ok(2));

    let written = memory.read(
        "/prices/p1".parse().unwrap(),
        es_framework::store::ReadOptions::default(),
    );
    let written: Vec<_> = futures_util::TryStreamExt::try_collect(written)
        .await
        .unwrap();
    let newest = written.last().unwrap();
    assert_eq!(
        newest.event_type.as_str(),
        "com.example.library.BookPricedEvent.v2"
    );
    assert_eq!(
        newest.data.get(),
        r#"{"metadata":{},"payload":{"cents":1255}}"#
    );
}

#[tokio::test]
async fn an_old_event_that_does_not_fit_stops_the_command_and_is_named() {
    let memory = MemoryStore::new();
    store(
        &memory,
        "com.example.library.BookPricedEvent",
        &json!({ "cost": "12.50" }),
    )
    .await;
    let catalog = Catalog::builder()
        .command::<RaisePriceCommand>()
        .upcaster::<BookPricedV1>()
        .build()
        .unwrap();
    let resources = CommandResources::new(Arc::new(memory), "today")
        .with_upcasters(catalog.upcasters().clone());
    let error = raise_the_price(&resources).await.unwrap_err();
    assert!(
        error.contains("event 0 of type com.example.library.BookPricedEvent"),
        "{error}"
    );
    assert!(error.contains("missing field `price`"), "{error}");
}
