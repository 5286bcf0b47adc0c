//! Held rows in a database file: rows that it refuses, a second process, and files of older releases.

use std::sync::atomic::Ordering;

use futures_util::StreamExt as _;
use serde_json::json;

use super::{
    TREES, follow,
    poison_events::{
        IS_FIXED, ONE_AT_A_TIME, PATIENCE, PoisonedSacks, Warehouse, fold, fold_until_poison,
        history, record,
    },
    write,
};
use crate::projection::{Database, DatabaseUrl, ReadModels};
use es_event::EventId;
use es_store::{EventLog as _, ReadOptions, memory::MemoryStore};
use es_subscribe::operator::OperatorCommand;

#[tokio::test]
async fn a_row_that_the_database_refuses_waits_and_no_other() {
    let _guard = ONE_AT_A_TIME.lock().await;
    let (folder, store) = (tempfile::tempdir().unwrap(), MemoryStore::new());
    let file = folder.path().join("sacks.db");
    let mut history = history(100, 4);
    history.retain(|(_, event)| event.fault.is_none());
    let warehouse = Warehouse::open(&store, &file).await;
    let first = history.remove(0);
    record(&store, std::slice::from_ref(&first)).await;
    warehouse.reach(1).await;
    let outside = rusqlite::Connection::open(&file).unwrap();
    outside.busy_timeout(PATIENCE).unwrap();
    // The database refuses the third filling of two sacks.
    let refuse = "CREATE TRIGGER refuse BEFORE UPDATE ON sacks \
         WHEN new.fillings >= 3 AND new.number IN (8, 9) BEGIN SELECT RAISE(ABORT, 'too full'); END; \
         CREATE TRIGGER refuse_new BEFORE INSERT ON sacks \
         WHEN new.fillings >= 3 AND new.number IN (8, 9) BEGIN SELECT RAISE(ABORT, 'too full'); END";
    outside.execute_batch(refuse).unwrap();
    record(&store, &history).await;
    warehouse.reach(history.len() + 1).await;
    let held = warehouse.progress.held_keys();
    let mut keys: Vec<_> = held.iter().map(|held| held.key.as_str()).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["8", "9"]);
    let all: Vec<_> = std::iter::once(&first).chain(&history).collect();
    let mut rows = fold(all.iter().copied());
    for sack in [8, 9] {
        let fillings = all.iter().copied().filter(|(number, _)| *number == sack);
        rows.extend(fold(fillings.take(2)));
    }
    assert_eq!(warehouse.rows().await, rows);

    outside
        .execute_batch("DROP TRIGGER refuse; DROP TRIGGER refuse_new")
        .unwrap();
    let released = warehouse.operate(OperatorCommand::Retry, None).await;
    assert_eq!((released.retried, released.released), (2, 2));
    assert_eq!(warehouse.rows().await, fold(all.into_iter()));
}

#[tokio::test]
async fn a_process_that_stands_by_knows_the_held_rows_and_takes_over_with_them() {
    let poisoned = PoisonedSacks::record(100, 2).await;
    let history = &poisoned.history;
    let active = poisoned.open_warehouse().await;
    let standby = poisoned.open_warehouse().await;
    assert_eq!(standby.progress.held_keys().len(), 50);
    active.stop().await;
    let later = (0, history[1].1.clone());
    record(&poisoned.store, std::slice::from_ref(&later)).await;
    standby.reach(history.len() + 1).await;
    assert_eq!(standby.rows().await, fold_until_poison(history));
    let held = standby.progress.held_keys();
    let of_first = held.iter().find(|held| held.key == "0").unwrap();
    assert_eq!(of_first.events, 3);
}

#[tokio::test]
async fn a_database_of_a_release_without_held_rows_is_opened() {
    let _guard = ONE_AT_A_TIME.lock().await;
    IS_FIXED.store(false, Ordering::Relaxed);
    let (folder, store) = (tempfile::tempdir().unwrap(), MemoryStore::new());
    let file = folder.path().join("sacks.db");
    let history = history(100, 2);
    let (before, after) = history.split_at(100);
    record(&store, before).await;
    let warehouse = Warehouse::open(&store, &file).await;
    warehouse.reach(before.len()).await;
    warehouse.stop().await;
    let outside = rusqlite::Connection::open(&file).unwrap();
    outside.execute_batch("DROP TABLE es_held").unwrap();
    drop(outside);
    record(&store, after).await;
    let warehouse = Warehouse::open(&store, &file).await;
    warehouse.reach(history.len()).await;
    assert_eq!(warehouse.rows().await, fold_until_poison(&history));
    assert_eq!(warehouse.progress.held_keys().len(), 50);
}

#[tokio::test]
async fn the_skipped_events_of_an_older_release_move_to_the_event_store() {
    let (folder, store) = (tempfile::tempdir().unwrap(), MemoryStore::new());
    let file = folder.path().join("trees.db");
    let earlier = rusqlite::Connection::open(&file).unwrap();
    let stored = "CREATE TABLE es_skipped (model TEXT NOT NULL, position BIGINT NOT NULL, \
         PRIMARY KEY (model, position)); INSERT INTO es_skipped VALUES ('trees', 1)";
    earlier.execute_batch(stored).unwrap();
    for number in 0..3 {
        let num_leaves = if number == 1 { json!("many") } else { json!(7) };
        let payload = json!({ "kind": "oak", "numLeaves": num_leaves });
        write(&store, number, &payload).await;
    }
    let models = ReadModels::new([TREES]).unwrap();
    let database = Database::open(&DatabaseUrl::File(file), &models).await;
    let progress = follow(&store, &database.unwrap());
    let reached = progress.wait_until_reached(EventId::new(2), super::PATIENCE);
    reached.await.unwrap();
    assert!(progress.held_keys().is_empty());
    let skips = "/es-framework/skips".parse().unwrap();
    let recorded = store.read(skips, ReadOptions::recursive()).count().await;
    assert_eq!(recorded, 1);
    let count = "SELECT count(*) FROM es_skipped";
    let left: i64 = earlier.query_row(count, [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}
