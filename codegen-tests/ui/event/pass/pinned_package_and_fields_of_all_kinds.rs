//! A pinned package needs no metadata; fields may be whatever serde and schemars know.

use std::collections::BTreeMap;

use es_framework::prelude::*;

/// A copy was bought.
#[derive(Event, Clone, Debug)]
#[event(package = "com.example.library", name = "BookPurchasedEvent.v2")]
struct BookPurchasedEvent {
    #[serde(default)]
    id: Uuid,
    #[serde(rename = "by", alias = "buyer", alias = "customer")]
    bought_by: Option<String>,
    tags: Vec<BTreeMap<String, bool>>,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    copies: u8,
    nested: Nested,
}

#[derive(Event, Clone, Debug, Default)]
#[event(package = "com.example.library")]
struct Nested {
    a: String,
}

impl Default for BookPurchasedEvent {
    fn default() -> Self {
        let id = Uuid::nil();
        Self { id, bought_by: None, tags: vec![], copies: one(), nested: Nested::default() }
    }
}

fn one() -> u8 {
    1
}

fn is_one(copies: &u8) -> bool {
    *copies == 1
}

fn main() {
    assert_eq!(BookPurchasedEvent::TYPE, "com.example.library.BookPurchasedEvent.v2");
    let event = BookPurchasedEvent { copies: 2, ..BookPurchasedEvent::default() };
    assert!(event.id.is_nil() && event.bought_by.is_none() && event.tags.is_empty());
    assert_eq!(event.nested.a, "");
}
