//! A field that is not one member.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {
    #[serde(flatten)]
    more: std::collections::BTreeMap<String, String>,
}

fn main() {}
