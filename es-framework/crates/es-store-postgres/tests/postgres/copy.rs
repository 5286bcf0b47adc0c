//! A copy of a log into a database.

use es_event::RecordedEvent;
use es_store::{EventLog as _, backup::BackupLine};
use es_store_postgres::{PostgresRestore, PostgresStore};

use crate::{
    contract::fail_transactions,
    store_fixture::{StoreFixture, assert_chain, candidate, open, read_all},
};

/// Returns the events of a new store. A copy writes 2,000 in a transaction.
async fn events_to_copy(fixture: &StoreFixture) -> Vec<RecordedEvent> {
    let store = fixture.open(&fixture.schema(), "").await;
    let candidates = (0..5_000).map(|number| candidate("/a", number)).collect();
    let events = store.append(candidates, vec![]).await.unwrap();
    store.close().await;
    events
}

/// Begins or continues a copy.
async fn copy(url: &str, events: &[RecordedEvent]) -> PostgresRestore {
    let mut restore = PostgresRestore::begin_or_continue(&url.parse().unwrap())
        .await
        .unwrap();
    let start = usize::try_from(restore.chain().events()).unwrap();
    for event in &events[start..] {
        let line = BackupLine::Event(Box::new(event.clone()));
        restore.add_line(line).await.unwrap();
    }
    restore
}

#[tokio::test]
async fn a_copy_that_was_interrupted_can_be_finished_but_not_used() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let events = events_to_copy(&fixture).await;
    let url = fixture.url(&fixture.schema(), "");
    drop(copy(&url, &events[..2_500]).await);
    for copied in [2_500, 5_000] {
        let refused = PostgresStore::open(url.parse().unwrap()).await;
        let refused = refused.unwrap_err().to_string();
        assert!(
            refused.contains("run the same `event-store copy` again"),
            "{refused}"
        );
        let restore = copy(&url, &events[..copied]).await;
        if copied == events.len() {
            restore.finish().await.unwrap();
        }
    }
    let store = open(&url).await;
    let copied = read_all(&store).await;
    assert_eq!(copied.len(), events.len());
    assert_chain(&copied);
    store
        .append(vec![candidate("/a", 0)], vec![])
        .await
        .unwrap();
}

#[tokio::test]
async fn a_copy_repeats_transactions_that_the_engine_aborts() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let events = events_to_copy(&fixture).await;
    let schema = fixture.schema();
    let url = fixture.url(&schema, "");
    open(&url).await.close().await;
    fixture.server.query(&fail_transactions(&schema, 0.4));
    let copied = copy(&url, &events).await.finish().await.unwrap();
    assert_eq!(copied.events(), 5_000);
    assert_eq!(read_all(&open(&url).await).await.len(), 5_000);
}
