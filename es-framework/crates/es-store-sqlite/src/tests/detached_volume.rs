//! A store whose volume is detached while it runs: the path then leads to an empty directory or to an older
//! state of the store.

use std::{fs, path::Path};

use futures_util::TryStreamExt as _;
use tempfile::TempDir;

use super::support::{append, assert_chain, copy, tiny};
use crate::{EmbeddedStore, shared::InjectedFault};
use es_event::Subject;
use es_store::{EventLog as _, ReadOptions, StoreCatalog as _};

/// The names of the files that the volume takes with it.
const FILES: [&str; 3] = ["events.sqlite", "events.sqlite-wal", "events.sqlite-shm"];

fn move_files(from: &Path, to: &Path) {
    for name in FILES {
        if from.join(name).exists() {
            fs::rename(from.join(name), to.join(name)).unwrap();
        }
    }
}

/// Makes the writer fail, so that its next task opens the database again.
async fn fail_once(store: &EmbeddedStore) {
    store.open.shared.inject(InjectedFault::Panic);
    assert!(append(store, &["/failed"]).await.is_err());
}

/// Asserts that neither an append nor the health check takes what is at the path for the store.
async fn assert_refused(store: &EmbeddedStore, expected: &str) {
    let refused = append(store, &["/lost"]).await.unwrap_err().to_string();
    assert!(refused.contains(expected), "{refused}");
    let unwell = store.health().await.unwrap_err().to_string();
    assert!(unwell.contains(expected), "{unwell}");
}

#[tokio::test]
async fn a_store_does_not_continue_on_another_file_after_a_failure() {
    let (directory, older) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (detached, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let file = directory.path().join("events.sqlite");
    let store = EmbeddedStore::open_with(directory.path(), tiny(), None).unwrap();
    append(&store, &["/a", "/b"]).await.unwrap();
    copy(directory.path(), older.path());
    append(&store, &["/c"]).await.unwrap();
    let foreign = EmbeddedStore::open(other.path()).unwrap();
    append(&foreign, &["/x", "/y", "/z"]).await.unwrap();
    drop(foreign);
    fail_once(&store).await;
    move_files(directory.path(), detached.path());

    assert_refused(&store, "it is missing: check whether its volume is mounted").await;
    assert!(!file.exists(), "no file is created");
    fs::write(&file, "").unwrap();
    assert_refused(&store, "it lacks the last event that was stored").await;
    assert_eq!(fs::metadata(&file).unwrap().len(), 0, "nothing is written");
    move_files(older.path(), directory.path());
    assert_refused(&store, "it lacks the last event that was stored").await;
    for name in FILES {
        let _ = fs::remove_file(directory.path().join(name));
    }
    move_files(other.path(), directory.path());
    assert_refused(&store, "it lacks the last event that was stored").await;

    for name in FILES {
        let _ = fs::remove_file(directory.path().join(name));
    }
    move_files(detached.path(), directory.path());
    assert!(store.health().await.is_ok());
    assert_eq!(append(&store, &["/d"]).await.unwrap()[0].id.get(), 3);
    let read = store.read(Subject::root(), ReadOptions::recursive());
    let events: Vec<_> = read.try_collect().await.unwrap();
    assert_chain(&events);
}

#[tokio::test]
async fn a_store_whose_files_are_removed_or_replaced_acknowledges_nothing() {
    let missing = "it is missing";
    for (removed, expected) in [
        (&FILES[..], missing),
        (&["events.sqlite"], missing),
        (&["events.sqlite-wal"], "cannot open"),
        (&["events.lock"], "start this process again"),
    ] {
        let directory = TempDir::new().unwrap();
        let store = EmbeddedStore::open_with(directory.path(), tiny(), None).unwrap();
        append(&store, &["/a", "/b"]).await.unwrap();
        for name in removed {
            fs::remove_file(directory.path().join(name)).unwrap();
        }
        let unwell = store.health().await.unwrap_err().to_string();
        assert!(unwell.contains(expected), "{unwell}");
        assert_refused(&store, expected).await;
    }
}

#[tokio::test]
async fn a_store_does_not_write_to_a_copy_of_its_files_and_leaves_the_copy_whole() {
    let (directory, elsewhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let store = EmbeddedStore::open_with(directory.path(), tiny(), None).unwrap();
    append(&store, &["/a", "/b"]).await.unwrap();
    copy(directory.path(), elsewhere.path());
    for name in FILES {
        fs::remove_file(directory.path().join(name)).unwrap();
    }
    copy(elsewhere.path(), directory.path());
    assert_refused(&store, "start this process again").await;
    store.close().await;
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let read = store.read(Subject::root(), ReadOptions::recursive());
    let events: Vec<_> = read.try_collect().await.unwrap();
    assert_eq!(events.len(), 2);
}
