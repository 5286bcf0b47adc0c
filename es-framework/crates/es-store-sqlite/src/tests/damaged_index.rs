//! An index on the disk that lacks entries.

use std::time::Duration;

use futures_util::TryStreamExt as _;
use tempfile::TempDir;

use super::support::{append, eventually};
use crate::{
    EmbeddedStore,
    event_check::{CheckPosition, check_events},
    store_settings::EngineSettings,
};
use es_store::{
    EventLog as _, ReadOptions, StoreCatalog as _, StoreError, VerificationProgress, verify,
};

/// Writes four events, and closes the store.
async fn filled_store(directory: &TempDir) -> EmbeddedStore {
    let store = EmbeddedStore::open(directory.path()).unwrap();
    append(&store, &["/a", "/b/c", "/b/c", "/a"]).await.unwrap();
    store.close().await;
    store
}

#[tokio::test]
async fn a_verification_shows_the_progress_of_the_chain_and_of_the_tables() {
    let directory = TempDir::new().unwrap();
    filled_store(&directory).await;
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let mut shown = Vec::new();
    verify(&store, |progress| shown.push(progress))
        .await
        .unwrap();
    let expected = [
        VerificationProgress::Chain { events: 4 },
        // The events in the index, and then those in the list of event types.
        VerificationProgress::Tables { entries: 4 },
        VerificationProgress::Tables { entries: 8 },
    ];
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn a_step_of_the_verification_ends_with_its_time_and_not_after_a_number_of_events() {
    let directory = TempDir::new().unwrap();
    let store = filled_store(&directory).await;
    let file = rusqlite::Connection::open(store.file()).unwrap();
    let mut position = CheckPosition::of_range(0..4);
    for next in 1..=4 {
        check_events(&file, &mut position, 4, Duration::ZERO).unwrap();
        assert_eq!(position.left, next..4);
    }
    let mut position = CheckPosition::of_range(0..4);
    check_events(&file, &mut position, 4, Duration::MAX).unwrap();
    assert!(position.left.is_empty());
}

fn damage_index(store: &EmbeddedStore) {
    let file = rusqlite::Connection::open(store.file()).unwrap();
    let changed = file.execute(
        "UPDATE event_index SET key = x'2f' WHERE event_id = 2 AND key = CAST('/b/c' AS BLOB)",
        [],
    );
    assert_eq!(changed.unwrap(), 1);
}

async fn count_events(store: &EmbeddedStore, subject: &str) -> Result<usize, StoreError> {
    let events = store.read(subject.parse().unwrap(), ReadOptions::default());
    Ok(events.try_collect::<Vec<_>>().await?.len())
}

async fn assert_closed(store: &EmbeddedStore) {
    let closed =
        "the log is closed for writing, because the table event_index is damaged: it lacks event 2";
    let refused = append(store, &["/b/c"]).await.unwrap_err().to_string();
    assert!(refused.contains(closed), "{refused}");
    let unwell = store.health().await.unwrap_err().to_string();
    assert!(unwell.contains(closed), "{unwell}");
}

#[tokio::test]
async fn a_start_with_a_damaged_index_closes_the_log_until_the_index_is_built_again() {
    let directory = TempDir::new().unwrap();
    damage_index(&filled_store(&directory).await);
    let store = EmbeddedStore::open(directory.path()).unwrap();
    assert_closed(&store).await;
    store.close().await;
    drop(store);
    let store = EmbeddedStore::open(directory.path()).unwrap();
    assert_closed(&store).await;
    assert_ne!(verify(&store, |_| {}).await.unwrap().damage, []);
    assert_eq!(count_events(&store, "/b/c").await.unwrap(), 1);
    store.rebuild_tables().await.unwrap();
    assert_closed(&store).await;
    assert_eq!(verify(&store, |_| {}).await.unwrap().damage, []);
    append(&store, &["/b/c"]).await.unwrap();
    assert_eq!(count_events(&store, "/b/c").await.unwrap(), 3);
}

#[tokio::test]
async fn an_index_that_is_damaged_while_the_store_runs_closes_the_log_within_the_interval() {
    for idle in [Duration::from_millis(1), Duration::from_secs(3_600)] {
        let directory = TempDir::new().unwrap();
        let settings = EngineSettings {
            check_interval: Duration::from_millis(1),
            memtable_entries: 1,
            idle,
            ..EngineSettings::default()
        };
        let store = EmbeddedStore::open_with(directory.path(), settings, None).unwrap();
        append(&store, &["/a", "/b/c", "/b/c", "/a"]).await.unwrap();
        while store.open.shared.log().index.covered() < 4 {
            append(&store, &["/other"]).await.unwrap();
        }
        damage_index(&store);
        // A store that is never idle verifies between its batches.
        let begun = std::time::Instant::now();
        while append(&store, &["/other"]).await.is_ok() {
            assert!(begun.elapsed() < Duration::from_secs(20));
        }
        assert_closed(&store).await;
        eventually(|| store.open.shared.damaged_places() == ["the table event_index"]).await;
    }
}
