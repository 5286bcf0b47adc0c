//! The service over HTTP, in the process of the test, and the lock of the stored events.

use std::{error::Error, sync::Arc};

use es_framework::{Settings, prelude::*, store::memory::MemoryStore};

use crate::app;
use crate::{{module}}::{{command}};

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
async fn a_client_sends_the_command() -> Result<(), Box<dyn Error>> {
    let service = app()
        .settings(Settings::default())
        .event_store(Arc::new(MemoryStore::new()))
        .build()
        .await?;
    let client = service.client();

    let path = {{command}}::PATH;
    let command = {{sample}};
    for status in [201, 409] {
        let response = client.post(path, &command).await?;
        assert_eq!(response.status, status, "{}", response.text());
    }
    service.shutdown().await;
    Ok(())
}
