//! Finding events by their types.

use std::sync::Arc;

use futures_util::TryStreamExt as _;
use rusqlite::Connection;
use tempfile::TempDir;

use super::support::{append, candidate, eventually, tiny};
use crate::{
    event::Subject,
    eventql::{Limits, Query},
    store::{
        EventStore, Order, ReadOptions, StoreError,
        sqlite::{EmbeddedStore, settings::Settings, types::BLOCK},
    },
};

const RARE: &str = "io.example.Rare";
/// More than two blocks of the index.
const EVENTS: usize = 10_000;

async fn ids(
    store: &dyn EventStore,
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
    // Whoever looks at another event finds that it is missing.
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
    let latest = ids(&store, &[RARE], newest_first.first()).await;
    assert_eq!(latest.unwrap(), rare[rare.len() - 1..]);

    let query = format!("FROM e IN events WHERE e.type == '{RARE}' PROJECT INTO e.id AS INT");
    let store: Arc<dyn EventStore> = Arc::new(store);
    let rows = Query::parse(&query)
        .unwrap()
        .run(Arc::new(store), Limits::DEFAULT);
    let rows: Vec<_> = rows.try_collect().await.unwrap();
    let rows: Vec<u64> = rows.iter().map(|row| row.get().parse().unwrap()).collect();
    assert_eq!(rows, rare);
}

#[tokio::test]
async fn types_are_found_across_blocks_and_merges_in_either_order() {
    let settings = Settings {
        tail_events: 700,
        ..Settings::default()
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
async fn a_file_without_the_index_gets_it_while_it_is_used() {
    let directory = TempDir::new().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let rare = fill(&store).await;
    drop(store);
    let file = Connection::open(directory.path().join("events.sqlite")).unwrap();
    // As the version before left it.
    file.execute_batch(
        "DROP TABLE type_index; ALTER TABLE index_state DROP COLUMN typed; PRAGMA user_version = 2",
    )
    .unwrap();
    drop(file);
    let settings = Settings {
        idle: std::time::Duration::from_millis(1),
        ..tiny()
    };
    let store = EmbeddedStore::open_with(directory.path(), settings, None).unwrap();
    let before = ids(&store, &[RARE], ReadOptions::recursive()).await;
    assert_eq!(before.unwrap(), rare);
    append(&store, &["/new"]).await.unwrap();
    let typed = || store.open.shared.tail().typed();
    eventually(|| typed() > EVENTS as u64).await;
    drop(store);

    let file = Connection::open(directory.path().join("events.sqlite")).unwrap();
    let count = |sql: &str| file.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let indexed = count("SELECT sum(length(events)) / 2 FROM type_index");
    assert_eq!(indexed, EVENTS as i64 + 1, "each event once");
    let most = count("SELECT max(length(events)) / 2 FROM type_index");
    assert!(most <= BLOCK as i64);
    drop(file);
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let after = ids(&store, &[RARE], ReadOptions::recursive()).await;
    assert_eq!(after.unwrap(), rare);
}

#[tokio::test]
async fn a_broken_row_of_the_index_is_told() {
    let directory = TempDir::new().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    append(&store, &["/a", "/b"]).await.unwrap();
    drop(store);
    let file = Connection::open(directory.path().join("events.sqlite")).unwrap();
    file.execute_batch("UPDATE type_index SET events = x'000001'")
        .unwrap();
    drop(file);
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let read = ids(&store, &["io.example.Happened"], ReadOptions::recursive()).await;
    let error = read.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("index by type"), "{error}");
}
