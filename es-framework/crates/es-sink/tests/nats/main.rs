//! Events on their way to a NATS server.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests fail by panicking"
)]

mod credentials;
mod delivery;
mod nats_server;
#[allow(dead_code, reason = "this binary uses a part of it")]
#[path = "../../../../tests/support/requirement.rs"]
mod requirement;
mod settings;

use es_sink::{CloudEvent, DeliveryError};
use serde_json::value::to_raw_value;

/// An event of a subject with this id.
fn event(id: &str) -> CloudEvent {
    CloudEvent {
        id: id.to_owned(),
        source: "https://library.example".into(),
        subject: "/books/42".to_owned(),
        event_type: "com.example.library.CopyAvailable.v1",
        time: "2026-01-02T03:04:05Z".to_owned(),
        occurred_at: None,
        trace: None,
        data: to_raw_value(&serde_json::json!({ "title": "Ædnan" }))
            .unwrap()
            .into(),
    }
}

/// The sentence of a failed delivery.
fn failure(delivered: Result<(), DeliveryError>) -> String {
    match delivered {
        Err(DeliveryError::Failed(sentence)) => sentence,
        other => panic!("{other:?}"),
    }
}
