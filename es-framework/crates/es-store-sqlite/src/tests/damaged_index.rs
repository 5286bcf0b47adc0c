//! An index on the disk that lacks entries.

use std::time::Duration;

use futures_util::TryStreamExt as _;
use tempfile::TempDir;

use super::support::{append, eventually};
use crate::{
    EmbeddedStore,
    index_check::{IndexComparison, compare_index},
    store_settings::EngineSettings,
};
use es_store::{EventStore as _, ReadOptions, StoreError, VerificationProgress, verify};

async fn find_unindexed_event(store: &EmbeddedStore) -> Option<u64> {
    let reader = &store.reader;
    reader.find_unindexed_event(&mut |_| {}).await.unwrap()
}

#[tokio::test]
async fn an_event_that_the_index_lacks_is_found() {
    let directory = TempDir::new().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    append(&store, &["/a", "/b/c", "/b/c", "/a"]).await.unwrap();
    store.close().await;
    drop(store);
    let store = EmbeddedStore::open(directory.path()).unwrap();
    assert_eq!(find_unindexed_event(&store).await, None);
    damage_index(&store);
    assert_eq!(find_unindexed_event(&store).await, Some(2));
}

#[tokio::test]
async fn a_verification_shows_the_progress_of_the_chain_and_of_the_tables() {
    let directory = TempDir::new().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    append(&store, &["/a", "/b/c", "/b/c", "/a"]).await.unwrap();
    store.close().await;
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
async fn a_step_of_the_comparison_ends_with_its_time_and_not_after_a_number_of_events() {
    let directory = TempDir::new().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    append(&store, &["/a", "/b/c", "/b/c", "/a"]).await.unwrap();
    store.close().await;
    let file = rusqlite::Connection::open(store.file()).unwrap();
    let compare = |range, time| compare_index(&file, range, time).unwrap();
    let all = compare(0..4, Duration::MAX);
    assert_eq!(all, IndexComparison::CheckedTo(4));
    for first in 0..4 {
        let step = compare(first..4, Duration::ZERO);
        assert_eq!(step, IndexComparison::CheckedTo(first + 1));
    }
}

/// Writes four events, and damages an entry of the index of the closed store.
async fn store_with_damaged_index() -> TempDir {
    let directory = TempDir::new().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    append(&store, &["/a", "/b/c", "/b/c", "/a"]).await.unwrap();
    store.close().await;
    damage_index(&store);
    directory
}

fn damage_index(store: &EmbeddedStore) {
    let file = rusqlite::Connection::open(store.file()).unwrap();
    let changed = file.execute(
        "UPDATE event_index SET key = x'2f' WHERE event_id = 2 AND key = CAST('/b/c' AS BLOB)",
        [],
    );
    assert_eq!(changed.unwrap(), 1);
}

/// The settings of a store that is too large to compare its index at the start.
fn large() -> EngineSettings {
    EngineSettings {
        checked_at_start: 0,
        idle: Duration::from_millis(1),
        ..EngineSettings::default()
    }
}

async fn count_events(store: &EmbeddedStore, subject: &str) -> Result<usize, StoreError> {
    let events = store.read(subject.parse().unwrap(), ReadOptions::default());
    Ok(events.try_collect::<Vec<_>>().await?.len())
}

#[tokio::test]
async fn a_running_store_builds_a_damaged_index_again() {
    let directory = store_with_damaged_index().await;
    let store = EmbeddedStore::open_with(directory.path(), large(), None).unwrap();
    for _ in 0..5_000 {
        if count_events(&store, "/b/c").await.ok() == Some(2) {
            assert_eq!(find_unindexed_event(&store).await, None);
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("the index is not built again");
}

/// Appends until the index has both events of a subject again.
async fn append_until_repaired(store: &EmbeddedStore) {
    for _ in 0..5_000 {
        append(store, &["/other"]).await.unwrap();
        if count_events(store, "/b/c").await.ok() == Some(2) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("the index is not built again");
}

#[tokio::test]
async fn a_store_that_is_never_idle_builds_a_damaged_index_again() {
    let directory = store_with_damaged_index().await;
    let settings = EngineSettings {
        idle: Duration::from_secs(3_600),
        ..large()
    };
    let store = EmbeddedStore::open_with(directory.path(), settings, None).unwrap();
    append_until_repaired(&store).await;
}

#[tokio::test]
async fn an_index_that_is_damaged_while_the_store_runs_is_built_again() {
    let directory = TempDir::new().unwrap();
    let settings = EngineSettings {
        check_interval: Duration::from_millis(1),
        memtable_entries: 1,
        ..large()
    };
    let store = EmbeddedStore::open_with(directory.path(), settings, None).unwrap();
    append(&store, &["/a", "/b/c", "/b/c", "/a"]).await.unwrap();
    eventually(|| store.open.shared.log().index.covered() == 4).await;
    damage_index(&store);
    append_until_repaired(&store).await;
}

#[tokio::test]
async fn a_store_whose_index_cannot_be_repaired_answers_nothing() {
    let directory = store_with_damaged_index().await;
    let file = rusqlite::Connection::open(directory.path().join("events.sqlite")).unwrap();
    let refuse = "CREATE TRIGGER keep BEFORE DELETE ON event_index \
        BEGIN SELECT RAISE(ABORT, 'the disk refuses it'); END";
    file.execute_batch(refuse).unwrap();
    let store = EmbeddedStore::open_with(directory.path(), large(), None).unwrap();
    eventually(|| store.open.shared.is_index_damaged()).await;
    let refused = count_events(&store, "/a").await.unwrap_err().to_string();
    assert!(refused.contains("its index was damaged"), "{refused}");
    let refused = append(&store, &["/a"]).await.unwrap_err().to_string();
    assert!(refused.contains("the disk refuses it"), "{refused}");
    assert!(store.health().await.is_err());
    file.execute_batch("DROP TRIGGER keep").unwrap();
    append(&store, &["/b/c"]).await.unwrap();
    assert_eq!(count_events(&store, "/b/c").await.unwrap(), 3);
}
