//! A pinned package needs no metadata; fields may be whatever serde and schemars know.

#![deny(warnings)]

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
    #[serde(rename = "größe")]
    größe: i64,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    copies: u8,
    nested: Nested,
}

#[derive(Event, Clone, Debug)]
#[event(package = "com.example.library")]
struct Nested {
    a: String,
}

fn one() -> u8 {
    1
}

fn is_one(copies: &u8) -> bool {
    *copies == 1
}

#[test]
fn works() {
    assert_eq!(
        BookPurchasedEvent::TYPE,
        "com.example.library.BookPurchasedEvent.v2"
    );
    let event = BookPurchasedEvent {
        id: Uuid::nil(),
        bought_by: None,
        tags: vec![],
        größe: 1,
        copies: one(),
        nested: Nested { a: String::new() },
    };
    assert!(event.bought_by.is_none() && event.tags.is_empty() && event.copies == 1);
    assert_eq!(
        (event.id, event.nested.a.as_str(), event.größe),
        (Uuid::nil(), "", 1)
    );
}
