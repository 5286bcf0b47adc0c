//! The service over HTTP, in the process of the test, and the lock of the stored events.

use std::{error::Error, sync::Arc};

use es_framework::{Settings, axum::http::HeaderName, store::memory::MemoryStore};
use serde_json::{Value, json};

use crate::app;

#[test]
fn stored_events_stay_readable() {
    es_framework::schema_lock!();
}

/// A start refuses declarations that contradict each other.
#[tokio::test]
async fn the_application_starts() -> es_framework::Result<()> {
    let store = Arc::new(MemoryStore::new());
    let service = app().settings(Settings::default()).event_store(store);
    service.build().await?.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn a_client_purchases_a_book_and_finds_it() -> Result<(), Box<dyn Error>> {
    let service = app()
        .settings(Settings::default())
        .event_store(Arc::new(MemoryStore::new()))
        .build()
        .await?;
    let client = service.client();

    let id = "0190a1b2-0000-7000-8000-000000000001";
    let book = json!({ "id": id, "title": "The Hobbit", "numPages": 310 });
    let response = client.post("/books/purchase", &book).await?;
    assert_eq!(response.status, 201, "{}", response.text());
    let position = response.header("event-position").unwrap_or_default();

    // The query waits for the event.
    let client = client.with_header(HeaderName::from_static("event-position"), position);
    let stock: Value = client.get("/books?title=hobbit").await?.json()?;
    assert_eq!(stock["items"][0]["id"], id);
    service.shutdown().await;
    Ok(())
}
