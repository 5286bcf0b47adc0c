//! Stores whose events have hashes of both versions.

use std::sync::Arc;

use futures_util::TryStreamExt as _;
use tempfile::TempDir;

use super::{
    lines::assert_same,
    support::{assert_chain, candidate, tiny},
};
use crate::{EmbeddedStore, EmbeddedStoreOptions, Restore, store_settings::EngineSettings};
use es_event::{HashVersion, RecordedEvent, Subject, TraceContext};
use es_store::{DamagePlace, EventLog as _, ReadOptions, backup, contract, verify};

const VERSIONS: [HashVersion; 3] = [HashVersion::V1, HashVersion::V2, HashVersion::V1];

async fn all(store: &EmbeddedStore) -> Vec<RecordedEvent> {
    let read = store.read(Subject::root(), ReadOptions::recursive());
    read.try_collect().await.unwrap()
}

/// A store that was opened with one version after the other, with five events of each.
async fn mixed(directory: &TempDir) -> EmbeddedStore {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let mut store = None;
    for version in VERSIONS {
        drop(store.take());
        let settings = EngineSettings {
            hash_version: version,
            ..tiny()
        };
        let opened = EmbeddedStore::open_with(directory.path(), settings, None).unwrap();
        for number in 0..5 {
            let mut traced = candidate(&format!("/a/{number}"), number);
            traced.trace = TraceContext::new(Some(parent), None).unwrap();
            opened.append(vec![traced], vec![]).await.unwrap();
        }
        store = Some(opened);
    }
    store.unwrap()
}

#[tokio::test]
async fn a_store_that_writes_version_2_keeps_the_contract() {
    let options = EmbeddedStoreOptions {
        hash_version: HashVersion::V2,
        ..EmbeddedStoreOptions::default()
    };
    contract::run(|| async { EmbeddedStore::temporary_with_options(options).unwrap() }).await;
}

#[tokio::test]
async fn each_event_keeps_the_version_in_which_it_was_written() {
    let directory = TempDir::new().unwrap();
    let store = mixed(&directory).await;
    let events = all(&store).await;
    assert_chain(&events);
    let expected = VERSIONS.into_iter().flat_map(|version| [version; 5]);
    assert!(events.iter().map(|event| event.hash.version()).eq(expected));
    assert_same(&store, &Subject::root(), &ReadOptions::recursive()).await;
    let report = verify(&store, |_| {}).await.unwrap();
    assert_eq!((report.events, report.damage), (15, vec![]));
}

#[tokio::test]
async fn a_changed_event_of_version_2_is_found() {
    let directory = TempDir::new().unwrap();
    drop(mixed(&directory).await);
    let file = rusqlite::Connection::open(directory.path().join("events.sqlite")).unwrap();
    file.execute("UPDATE events SET traceparent = NULL WHERE id = 7", [])
        .unwrap();
    drop(file);
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let report = verify(&store, |_| {}).await.unwrap();
    assert_eq!(report.damage[0].place, DamagePlace::Event(7));
}

#[tokio::test]
async fn a_backup_holds_both_versions() {
    let (directory, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let store = mixed(&directory).await;
    let mut restore = Restore::begin(other.path()).unwrap();
    let frames = backup::stream_frames(&(Arc::new(store.clone()) as Arc<dyn es_store::EventStore>));
    let frames: Vec<_> = frames.try_collect().await.unwrap();
    for line in frames.concat().split_inclusive(|byte| *byte == b'\n') {
        restore
            .add_line(backup::BackupLine::parse_line(line).unwrap())
            .unwrap();
    }
    assert_eq!(restore.finish().unwrap().events(), 15);
    let restored = all(&EmbeddedStore::open(other.path()).unwrap()).await;
    let hashes =
        |events: &[RecordedEvent]| events.iter().map(|event| event.hash).collect::<Vec<_>>();
    assert_eq!(hashes(&restored), hashes(&all(&store).await));
}
