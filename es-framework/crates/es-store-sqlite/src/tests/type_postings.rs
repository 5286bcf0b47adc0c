//! Reads by event type and below a subject use the index.

use std::sync::Arc;

use futures_util::TryStreamExt as _;
use rusqlite::Connection;
use tempfile::TempDir;

use super::support::{append, candidate, eventually, tiny};
use crate::{EmbeddedStore, store_settings::EngineSettings};
use es_event::Subject;
use es_eventql::{EventQlQuery, QueryLimits};
use es_store::{EventLog, Order, ReadOptions, StoreError};

const RARE: &str = "io.example.Rare";
const EVENTS: usize = 10_000;

async fn ids(
    store: &dyn EventLog,
    names: &[&str],
    options: ReadOptions,
) -> Result<Vec<u64>, StoreError> {
    let options = ReadOptions {
        event_types: names.iter().map(|name| name.parse().unwrap()).collect(),
        ..options
    };
    let events = store.read(Subject::root(), options);
    events.map_ok(|event| event.id.get()).try_collect().await
}

/// Writes a log in which each 3,333rd event, and the last, is of another type.
async fn fill(store: &EmbeddedStore) -> Vec<u64> {
    let is_rare = |number: usize| number % 3_333 == 7 || number == EVENTS - 1;
    let numbers: Vec<_> = (0..EVENTS).collect();
    for some in numbers.chunks(1_000) {
        let batch = some.iter().map(|number| {
            let mut one = candidate(&format!("/a/{}", number % 100), *number);
            if is_rare(*number) {
                one.event_type = RARE.parse().unwrap();
            }
            one
        });
        store.append(batch.collect(), vec![]).await.unwrap();
    }
    let rare = numbers.into_iter().filter(|number| is_rare(*number));
    rare.map(|number| number as u64).collect()
}

#[tokio::test]
async fn a_rare_type_is_found_without_looking_at_all_other_events() {
    let directory = TempDir::new().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let rare = fill(&store).await;
    drop(store);
    // A read that visits another event finds that it is missing.
    let file = Connection::open(directory.path().join("events.sqlite")).unwrap();
    let others = format!("DELETE FROM events WHERE type != '{RARE}'");
    assert!(file.execute(&others, []).unwrap() > 9_000);
    drop(file);
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let everything = store.read(Subject::root(), ReadOptions::recursive());
    assert!(everything.try_collect::<Vec<_>>().await.is_err());
    let found = ids(&store, &[RARE], ReadOptions::recursive()).await;
    assert_eq!(found.unwrap(), rare);
    let newest_first = ReadOptions {
        order: Order::Antichronological,
        ..ReadOptions::recursive()
    };
    let latest = ids(&store, &[RARE], newest_first.first_only()).await;
    assert_eq!(latest.unwrap(), rare[rare.len() - 1..]);

    let query = format!("FROM e IN events WHERE e.type == '{RARE}' PROJECT INTO e.id AS INT");
    let rows = EventQlQuery::parse(&query)
        .unwrap()
        .run(Arc::new(store), QueryLimits::DEFAULT);
    let rows: Vec<_> = rows.try_collect().await.unwrap();
    let rows: Vec<u64> = rows.iter().map(|row| row.get().parse().unwrap()).collect();
    assert_eq!(rows, rare);
}

#[tokio::test]
async fn types_are_found_across_compactions_in_either_order() {
    let settings = EngineSettings {
        memtable_entries: 2_100,
        ..EngineSettings::default()
    };
    let store = EmbeddedStore::temporary_with(settings).unwrap();
    let rare = fill(&store).await;
    let common: Vec<_> = (0..EVENTS as u64).filter(|id| !rare.contains(id)).collect();
    let all: Vec<_> = (0..EVENTS as u64).collect();
    let happened = "io.example.Happened";
    for (names, expected) in [
        (&[RARE][..], &rare),
        (&[happened], &common),
        (&[happened, RARE], &all),
    ] {
        for order in [Order::Chronological, Order::Antichronological] {
            let options = ReadOptions {
                order,
                ..ReadOptions::recursive()
            };
            let mut found = ids(&store, names, options).await.unwrap();
            if order == Order::Antichronological {
                found.reverse();
            }
            assert!(found == *expected, "{names:?} {order:?}");
        }
    }
}

#[tokio::test]
async fn a_file_without_the_index_by_type_gets_it_when_it_is_opened() {
    let directory = TempDir::new().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let rare = fill(&store).await;
    drop(store);
    let file = Connection::open(directory.path().join("events.sqlite")).unwrap();
    // The store as format 2 wrote it.
    file.execute_batch(
        "ALTER TABLE events DROP COLUMN checksum; \
         ALTER TABLE event_schemas DROP COLUMN checksum; \
         ALTER TABLE event_index RENAME TO subject_index; \
         ALTER TABLE subject_index RENAME COLUMN key TO subject; \
         DROP TABLE damage; DELETE FROM subject_index WHERE subject < x'2f'; PRAGMA user_version = 2",
    )
    .unwrap();
    drop(file);
    let settings = EngineSettings {
        idle: std::time::Duration::from_millis(1),
        ..tiny()
    };
    let store = EmbeddedStore::open_with(directory.path(), settings, None).unwrap();
    let before = ids(&store, &[RARE], ReadOptions::recursive()).await;
    assert_eq!(before.unwrap(), rare);
    append(&store, &["/new"]).await.unwrap();
    let covered = || store.open.shared.log().index.covered();
    eventually(|| covered() > EVENTS as u64).await;
    drop(store);

    let file = Connection::open(directory.path().join("events.sqlite")).unwrap();
    let count = |sql: &str| file.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let by_type = count("SELECT count(*) FROM event_index WHERE key >= x'03' AND key < x'04'");
    assert_eq!(by_type, EVENTS as i64 + 1, "each event once");
    let below = count("SELECT count(*) FROM event_index WHERE key >= x'02' AND key < x'03'");
    assert_eq!(below, EVENTS as i64, "each event below /a once");
    drop(file);
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let after = ids(&store, &[RARE], ReadOptions::recursive()).await;
    assert_eq!(after.unwrap(), rare);
}

#[tokio::test]
async fn events_below_a_subject_are_found_without_reading_all_other_events() {
    let directory = TempDir::new().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    append(
        &store,
        &["/a", "/b", "/a/1", "/a/1/x", "/ab", "/a/", "/b/2"],
    )
    .await
    .unwrap();
    drop(store);
    // A read that visits another event finds that it is missing.
    let file = Connection::open(directory.path().join("events.sqlite")).unwrap();
    let others = "DELETE FROM events WHERE subject IN ('/b', '/ab')";
    assert_eq!(file.execute(others, []).unwrap(), 2);
    drop(file);
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let below = async |subject: &str, event_types: &[&str]| {
        let options = ReadOptions {
            event_types: event_types
                .iter()
                .map(|name| name.parse().unwrap())
                .collect(),
            ..ReadOptions::recursive()
        };
        let events = store.read(subject.parse().unwrap(), options);
        let ids = events.map_ok(|event| event.id.get());
        ids.try_collect::<Vec<_>>().await.unwrap()
    };
    assert_eq!(below("/a", &[]).await, [0, 2, 3, 5]);
    assert_eq!(below("/a/", &[]).await, [0, 2, 3, 5]);
    assert_eq!(below("/a/1", &[]).await, [2, 3]);
    assert_eq!(below("/a/1", &["io.example.Happened"]).await, [2, 3]);
    assert_eq!(below("/a", &["io.example.Other"]).await, [0_u64; 0]);
    assert_eq!(below("/c", &[]).await, [0_u64; 0]);
}

#[tokio::test]
async fn a_broken_row_of_the_index_is_reported() {
    let directory = TempDir::new().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    append(&store, &["/a", "/b"]).await.unwrap();
    drop(store);
    let file = Connection::open(directory.path().join("events.sqlite")).unwrap();
    file.execute_batch("INSERT INTO event_index SELECT DISTINCT key, 1000 FROM event_index")
        .unwrap();
    file.execute_batch("UPDATE index_state SET indexed = 2")
        .unwrap();
    file.execute_batch("DELETE FROM events WHERE id = 0")
        .unwrap();
    drop(file);
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let read = ids(&store, &["io.example.Happened"], ReadOptions::recursive()).await;
    let error = read.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("event 0 is damaged: it is missing"),
        "{error}"
    );
}
