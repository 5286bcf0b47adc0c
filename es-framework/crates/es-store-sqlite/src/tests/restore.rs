//! Backups that `restore` accepts or rejects.

use std::{path::Path, sync::Arc};

use futures_util::TryStreamExt as _;
use serde_json::value::RawValue;
use tempfile::TempDir;

use super::support::{append, assert_chain, candidate, tiny};
use crate::{EmbeddedStore, Restore, RestoreError};
use es_event::{EventCandidate, EventId, EventTime, RecordedEvent, Subject};
use es_store::{
    EventLog as _, EventSchema, ReadOptions, StoreCatalog as _,
    backup::RestoreFlaw,
    backup::{self, BackupLine},
};

async fn all(store: &EmbeddedStore) -> Vec<RecordedEvent> {
    let read = store.read(Subject::root(), ReadOptions::recursive());
    read.try_collect().await.unwrap()
}

/// A store with eleven events and a schema, and its backup as text.
async fn backed_up() -> (Vec<RecordedEvent>, Vec<String>) {
    let store = EmbeddedStore::temporary_with(tiny()).unwrap();
    for number in 0..11 {
        append(&store, &[&format!("/a/{}", number % 3)])
            .await
            .unwrap();
    }
    let schema = EventSchema::parse(r#"{"type":"object","properties":{}}"#).unwrap();
    let planned = store.register_event_schema("io.example.Planned".parse().unwrap(), schema);
    planned.await.unwrap();
    let lines = backup::stream_lines(Arc::new(store.clone()));
    let lines: Vec<_> = lines.try_collect().await.unwrap();
    let text = |line: &BackupLine| {
        let mut text = Vec::new();
        line.append_to(&mut text);
        String::from_utf8(text).unwrap()
    };
    (all(&store).await, lines.iter().map(text).collect())
}

fn restore(directory: &Path, lines: &[String]) -> Result<u64, RestoreError> {
    let mut restore = Restore::begin(directory)?;
    for line in lines {
        restore.add_line(BackupLine::parse_line(line.as_bytes()).unwrap())?;
    }
    Ok(restore.finish()?.events())
}

#[tokio::test]
async fn a_restored_store_is_the_one_that_was_backed_up() {
    let (events, lines) = backed_up().await;
    let directory = TempDir::new().unwrap();
    assert_eq!(restore(directory.path(), &lines).unwrap(), 11);
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let restored = all(&store).await;
    assert_chain(&restored);
    assert_eq!(restored[10].hash, events[10].hash);
    let of_one = store.read("/a/1".parse().unwrap(), ReadOptions::default());
    assert_eq!(of_one.try_collect::<Vec<_>>().await.unwrap().len(), 4);
    let known: Vec<_> = store.read_event_types().try_collect().await.unwrap();
    assert_eq!(known.len(), 2);
    assert!(known[1].is_phantom && known[1].schema.is_some());
    assert_eq!(append(&store, &["/b"]).await.unwrap()[0].id.get(), 11);
}

#[tokio::test]
async fn a_backup_that_is_not_whole_leaves_nothing_behind() {
    let (_, lines) = backed_up().await;
    let directory = TempDir::new().unwrap();
    let refusal = |change: &dyn Fn(&mut Vec<String>)| {
        let mut lines = lines.clone();
        change(&mut lines);
        let refused = restore(directory.path(), &lines).unwrap_err();
        let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
        refused.to_string()
    };
    let changed = |lines: &mut Vec<String>| lines[4] = lines[4].replace("number\":0", "number\":7");
    assert!(refusal(&changed).starts_with("the backup is broken at event 3: event 3 was changed"));
    let without = |lines: &mut Vec<String>| drop(lines.remove(4));
    assert!(refusal(&without).ends_with("event 3 is missing: 4 follows"));
    let error = r#"{"type":"error","payload":{"error":"the disk is gone"}}"#;
    let broken_off = |lines: &mut Vec<String>| *lines.last_mut().unwrap() = error.to_owned();
    assert!(refusal(&broken_off).ends_with("the disk is gone"));
    let without_mark = |lines: &mut Vec<String>| drop(lines.pop());
    assert!(refusal(&without_mark).contains("no end mark"));
    for kept in 0..lines.len() - 1 {
        let truncated = |lines: &mut Vec<String>| lines.truncate(kept);
        assert!(refusal(&truncated).contains("no end mark"), "{kept}");
    }
    let without_last_event = |lines: &mut Vec<String>| drop(lines.remove(lines.len() - 2));
    assert!(refusal(&without_last_event).contains("it has 10 events"));
    let without_schema = |lines: &mut Vec<String>| drop(lines.remove(0));
    assert!(refusal(&without_schema).contains("its 0 schemas are not the 1"));
    let changed_schema = |lines: &mut Vec<String>| {
        lines[0] = lines[0].replace(r#""properties":{}"#, r#""properties":{"a":{}}"#);
    };
    assert!(refusal(&changed_schema).contains("schemas"));
    let other_type = |lines: &mut Vec<String>| lines[0] = lines[0].replace("Planned", "Wanted");
    assert!(refusal(&other_type).contains("schemas"));
    let continued = |lines: &mut Vec<String>| lines.push(lines[0].clone());
    assert!(refusal(&continued).contains("lines follow its end mark"));
    let twice = |lines: &mut Vec<String>| lines.push(lines[lines.len() - 1].clone());
    assert!(refusal(&twice).contains("lines follow its end mark"));
    // A directory with the files of an interrupted restore counts as empty.
    assert_eq!(restore(directory.path(), &lines).unwrap(), 11);
}

#[tokio::test]
async fn a_backup_of_an_earlier_version_is_restored_when_that_is_asked_for() {
    let (_, mut lines) = backed_up().await;
    let directory = TempDir::new().unwrap();
    let restore = |lines: &[String]| {
        let mut restore = Restore::begin(directory.path())?.accept_missing_end();
        for line in lines {
            restore.add_line(BackupLine::parse_line(line.as_bytes()).unwrap())?;
        }
        Ok::<_, RestoreError>(restore.finish()?.events())
    };
    let mark = lines.pop().unwrap();
    let shorter = [&lines[..5], &[mark]].concat();
    let refused = restore(&shorter).unwrap_err().to_string();
    assert!(refused.contains("it has 4 events"), "{refused}");
    assert!(matches!(
        restore(&[]),
        Err(RestoreError::Backup(RestoreFlaw::NoEnd))
    ));
    assert_eq!(restore(&lines).unwrap(), 11);
}

#[test]
fn large_events_are_committed_before_they_fill_the_write_ahead_log() {
    let directory = TempDir::new().unwrap();
    let mut restore = Restore::begin(directory.path()).unwrap();
    let text = "x".repeat(1 << 20);
    for id in 0..9 {
        let candidate = EventCandidate {
            data: RawValue::from_string(format!(r#"{{"text":"{text}"}}"#)).unwrap(),
            ..candidate("/a", 0)
        };
        let id = EventId::new(id).unwrap();
        let last = restore.chain().hash();
        let event = RecordedEvent::record(candidate, id, EventTime::now(), last);
        restore.add_line(BackupLine::Event(event.into())).unwrap();
    }
    let file = rusqlite::Connection::open(directory.path().join("restoring.sqlite")).unwrap();
    let count = file.query_row("SELECT count(*) FROM events", [], |row| {
        row.get::<_, i64>(0)
    });
    assert!(count.unwrap() >= 7);
}

#[tokio::test]
async fn only_the_owner_can_use_a_restored_store() {
    use std::{fs, os::unix::fs::PermissionsExt as _};
    let (_, lines) = backed_up().await;
    let directory = TempDir::new().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    restore(directory.path(), &lines).unwrap();
    for entry in fs::read_dir(directory.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{:?}", entry.file_name());
    }
}

#[tokio::test]
async fn what_is_there_is_not_overwritten() {
    let (_, lines) = backed_up().await;
    let directory = TempDir::new().unwrap();
    std::fs::write(directory.path().join("thesis.txt"), "mine").unwrap();
    let refused = restore(directory.path(), &lines).unwrap_err();
    assert!(matches!(refused, RestoreError::NotEmpty(_)), "{refused}");
}
