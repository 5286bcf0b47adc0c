//! Full disks, and disks that return changed data.

use futures_util::{StreamExt as _, TryStreamExt as _};
use rusqlite::Connection;
use tempfile::TempDir;

use super::support::{append, assert_chain, tiny};
use crate::{EmbeddedStore, shared::InjectedFault};
use es_event::{EventId, Subject};
use es_store::{
    AppendError, EventLog as _, ObserveOptions, ReadOptions, StoreCatalog as _, StoreError,
};

#[tokio::test]
async fn a_full_disk_refuses_the_batch_and_the_store_recovers() {
    let store = EmbeddedStore::temporary_with(tiny()).unwrap();
    for number in 0..6 {
        append(&store, &[&format!("/a/{number}")]).await.unwrap();
    }
    store.open.shared.inject(InjectedFault::LimitPages(1));
    let many: Vec<_> = (0..200).map(|number| format!("/b/{number}")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let refused = append(&store, &many).await;
    assert!(
        matches!(refused, Err(AppendError::Store(StoreError::Full(_)))),
        "{refused:?}"
    );
    let unwell = store.health().await;
    assert!(matches!(unwell, Err(StoreError::Full(_))), "{unwell:?}");
    let read = |at: &str| store.read(at.parse().unwrap(), ReadOptions::recursive());
    assert_eq!(read("/").try_collect::<Vec<_>>().await.unwrap().len(), 6);
    assert!(read("/b").try_collect::<Vec<_>>().await.unwrap().is_empty());

    store
        .open
        .shared
        .inject(InjectedFault::LimitPages(1_000_000));
    assert!(store.health().await.is_ok(), "there is room again");
    assert_eq!(append(&store, &many).await.unwrap()[0].id.get(), 6);
    assert_chain(&read("/").try_collect::<Vec<_>>().await.unwrap());
}

#[tokio::test]
async fn the_write_ahead_log_begins_again_while_the_store_writes() {
    let mut settings = tiny();
    settings.checkpoint_pages = 10;
    let store = EmbeddedStore::temporary_with(settings).unwrap();
    for number in 0..2_000 {
        append(&store, &[&format!("/a/{number}")]).await.unwrap();
    }
    let length = |file: &str| {
        let file = store.file().with_file_name(file);
        std::fs::metadata(file).unwrap().len()
    };
    // Each append writes several pages of 4 KiB, so a log that never began again would have more than 16 MiB.
    let log = length("events.sqlite-wal");
    assert!(log < 4 << 20, "the log has {log} bytes");
    assert!(length("events.sqlite") > 200 << 10);
    store.close().await;
    let again = EmbeddedStore::open(store.file().parent().unwrap()).unwrap();
    let events = again.read(Subject::root(), ReadOptions::recursive());
    assert_chain(&events.try_collect::<Vec<_>>().await.unwrap());
}

#[tokio::test]
async fn a_lock_that_others_hold_on_the_file_is_no_loss() {
    let store = EmbeddedStore::temporary_with(tiny()).unwrap();
    append(&store, &["/a"]).await.unwrap();
    let other = Connection::open(store.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = append(&store, &["/b"]).await;
    assert!(
        matches!(
            refused,
            Err(AppendError::Store(StoreError::Unavailable { .. }))
        ),
        "{refused:?}"
    );
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(append(&store, &["/c"]).await.unwrap()[0].id.get(), 1);
}

/// Changes the rows of a closed store and returns the result of a read.
async fn after(change: &str, subject: &str, options: ReadOptions) -> String {
    let directory = TempDir::new().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    append(&store, &["/a", "/b", "/a"]).await.unwrap();
    drop(store);
    let file = Connection::open(directory.path().join("events.sqlite")).unwrap();
    file.execute_batch(change).unwrap();
    drop(file);
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let subject: Subject = subject.parse().unwrap();
    let read = store.read(subject, options).try_collect::<Vec<_>>().await;
    let Err(StoreError::Corrupt { address, reason }) = read else {
        panic!("{change}: {read:?}")
    };
    assert!(address.ends_with("events.sqlite"), "{address}");
    reason
}

#[tokio::test]
async fn a_broken_row_is_named() {
    for (change, reason) in [
        (
            "UPDATE events SET checksum = NULL, subject = 'a b' WHERE id = 0",
            "event 0 is damaged: it has a broken subject",
        ),
        (
            "UPDATE events SET checksum = NULL, hash = x'00' WHERE id = 0",
            "event 0 is damaged: it has a broken hash",
        ),
        (
            "UPDATE events SET checksum = NULL, data = '{' WHERE id = 0",
            "event 0 is damaged: it has a broken data",
        ),
        (
            "UPDATE events SET checksum = NULL, time = 'now' WHERE id = 0",
            "event 0 is damaged: it has a broken time",
        ),
        (
            "UPDATE events SET checksum = NULL, type = '' WHERE id = 0",
            "event 0 is damaged: it has a broken type",
        ),
        (
            "UPDATE events SET data = '{}' WHERE id = 0",
            "event 0 is damaged: it was damaged on the disk: its checksum differs",
        ),
        (
            "UPDATE events SET checksum = NULL, data = '{}' WHERE id = 0",
            "event 0 is damaged: it was damaged on the disk: its hash differs",
        ),
        (
            "DELETE FROM events WHERE id = 0",
            "event 0 is damaged: it is missing",
        ),
    ] {
        for (subject, options) in [
            ("/a", ReadOptions::default()),
            ("/", ReadOptions::recursive()),
        ] {
            let found = after(change, subject, options).await;
            assert!(found.starts_with(reason), "{found}");
        }
    }
}

#[tokio::test]
async fn a_broken_end_of_the_chain_is_no_panic_at_the_start() {
    let directory = TempDir::new().unwrap();
    for (number, change) in [
        "UPDATE events SET hash = x'00' WHERE id = 2",
        "UPDATE events SET time = '' WHERE id = 2",
        "UPDATE index_state SET indexed = 17",
        "UPDATE index_state SET indexed = -1",
        "DELETE FROM event_types; UPDATE index_state SET indexed = 0",
        "DELETE FROM index_state",
        "UPDATE index_state SET indexed = 0; DELETE FROM events WHERE id = 1",
    ]
    .into_iter()
    .enumerate()
    {
        let directory = directory.path().join(number.to_string());
        let store = EmbeddedStore::open(&directory).unwrap();
        append(&store, &["/a", "/b", "/a"]).await.unwrap();
        drop(store);
        let file = Connection::open(directory.join("events.sqlite")).unwrap();
        file.execute_batch(change).unwrap();
        drop(file);
        let is_refused = match EmbeddedStore::open(&directory) {
            Ok(store) => store.health().await.is_err(),
            Err(_) => true,
        };
        assert!(is_refused, "{change}");
    }
}

#[tokio::test]
async fn observers_take_the_newest_events_from_memory_and_readers_from_the_disk() {
    let store = EmbeddedStore::temporary_with(tiny()).unwrap();
    for number in 0..6 {
        append(&store, &[&format!("/a/{number}")]).await.unwrap();
    }
    let outside = Connection::open(store.file()).unwrap();
    outside.execute_batch("DELETE FROM events").unwrap();
    let observe = |lower_bound| {
        let events = store.observe(
            Subject::root(),
            ObserveOptions::recursive_after(lower_bound),
        );
        events
            .map_ok(|event| event.id.get())
            .take(2)
            .collect::<Vec<_>>()
    };
    let newest: Result<Vec<_>, _> = observe(EventId::new(3)).await.into_iter().collect();
    assert_eq!(newest.unwrap(), [4, 5]);
    let oldest = observe(None).await;
    assert!(matches!(oldest.as_slice(), [Err(_)]), "{oldest:?}");
    let read = store.read("/a/5".parse().unwrap(), ReadOptions::default());
    let read: Result<Vec<_>, _> = read.try_collect().await;
    assert!(read.is_err(), "{read:?}");
}
