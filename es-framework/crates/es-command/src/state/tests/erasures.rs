//! States and snapshots after personal data was erased.

use std::path::Path;

use es_event::Hash;
use futures_util::future::join_all;
use rusqlite::Connection;

use super::{
    CountingStore, Snapshots, StateLoader, account, long_account, rebuilt, states, subject,
};

/// Writes a snapshot that differs from the events, as one from before an erasure does.
async fn save_old_snapshot(store: &CountingStore, snapshots: &Snapshots, file: &Path) {
    let states = states(store).with_snapshots(snapshots.clone());
    let state = rebuilt(&states, "/accounts/1").await;
    states.store_in_cache(&subject("/accounts/1"), false, state);
    let connection = Connection::open(file).unwrap();
    let change = r#"UPDATE snapshots SET state = '{"cents":7,"payments":7}'"#;
    // Another thread writes the snapshot.
    while connection.execute(change, []).unwrap() == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_state_that_was_loaded_while_the_snapshots_are_deleted_does_not_stay() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snapshots.sqlite");
    let store = long_account(&file, 600).await;
    let snapshots = Snapshots::in_file(file.clone());
    assert_eq!(snapshots.delete_all(|| ()).await, Ok(()));
    // Threads decide whether a command loads the snapshot before it is deleted.
    for _ in 0..50 {
        save_old_snapshot(&store, &snapshots, &file).await;
        let states: StateLoader = states(&store).with_snapshots(snapshots.clone());
        let commands = (0..8).map(|_| rebuilt(&states, "/accounts/1"));
        let (forgotten, begun) = tokio::join!(states.forget_states(), join_all(commands));
        assert_eq!(forgotten, Ok(()));
        for old in begun {
            states.store_in_cache(&subject("/accounts/1"), false, old);
            let new = rebuilt(&states, "/accounts/1").await;
            assert_eq!(new.state, account(600, 600));
        }
        assert_eq!(snapshots.delete_all(|| ()).await, Ok(()));
    }
}

#[tokio::test]
async fn the_id_of_an_erasure_that_an_earlier_release_recorded_is_not_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snapshots.sqlite");
    let earlier = "CREATE TABLE erasure (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), \
         event_id INTEGER NOT NULL) STRICT; INSERT INTO erasure VALUES (1, 7)";
    let created = Connection::open(&file).unwrap();
    created.execute_batch(earlier).unwrap();
    let snapshots = Snapshots::in_file(file);
    assert_eq!(snapshots.load_last_erasure().await, None);
    let erasure = Hash::from_bytes([7; 32]);
    snapshots.record_erasure(erasure).await;
    assert_eq!(snapshots.load_last_erasure().await, Some(erasure));
}

#[tokio::test]
async fn a_snapshot_with_a_text_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snapshots.sqlite");
    let store = long_account(&file, 600).await;
    let snapshots = Snapshots::in_file(file.clone());
    let has = async |text: &str| snapshots.contain_text(vec![text.to_owned()]).await;
    assert_eq!(has("ada").await, Ok(false));
    save_old_snapshot(&store, &snapshots, &file).await;
    let named = r#"UPDATE snapshots SET state = '{"name":"ADA \"O\""}'"#;
    let changed = Connection::open(&file).unwrap().execute(named, []);
    assert_eq!(changed.unwrap(), 1);
    assert_eq!(has("Ada \"o\"").await, Ok(true));
    assert_eq!(has("Eve").await, Ok(false));
}
