//! Stores that are opened again, also by a later version.

use std::path::Path;

use futures_util::TryStreamExt as _;
use rusqlite::Connection;
use tempfile::TempDir;

use super::support::{append, assert_chain, candidate, copy, pristine, tiny};
use crate::{EmbeddedStore, OpenError, database_format, store_settings::EngineSettings};
use es_event::{EventId, EventType, RecordedEvent, Subject};
use es_store::{
    AppendError, EventLog as _, EventSchema, KnownEventType, Precondition, ReadOptions,
    StoreCatalog as _, verify,
};

const VERSION_1: &[u8] = include_bytes!("../fixtures/version-1.sqlite");
const VERSION_2: &[u8] = include_bytes!("../fixtures/version-2.sqlite");
const VERSION_3: &[u8] = include_bytes!("../fixtures/version-3.sqlite");
const VERSION_4: &[u8] = include_bytes!("../fixtures/version-4.sqlite");
const VERSION_6: &[u8] = include_bytes!("../fixtures/version-6.sqlite");

async fn all(store: &EmbeddedStore) -> Vec<RecordedEvent> {
    let read = store.read(Subject::root(), ReadOptions::recursive());
    read.try_collect().await.unwrap()
}

/// Asserts that each event can be found by its subject and by its type.
async fn assert_whole(store: &EmbeddedStore, events: &[RecordedEvent]) {
    assert_chain(events);
    for event in events {
        let subject = event.subject.clone();
        let found = store.read(subject.clone(), ReadOptions::default());
        let found: Vec<_> = found.try_collect().await.unwrap();
        assert!(found.iter().any(|found| found.id == event.id), "{event:?}");
        assert_eq!(
            of_type(store, &event.event_type).await,
            with_type(events, event)
        );
        for condition in [
            Precondition::SubjectIsPristine(subject.clone()),
            Precondition::SubjectIsOnEventId(subject, event.id.next().unwrap()),
        ] {
            let refused = store.append(vec![], vec![condition]).await;
            assert!(
                matches!(refused, Err(AppendError::Conflict(_))),
                "{refused:?}"
            );
        }
    }
}

async fn of_type(store: &EmbeddedStore, event_type: &EventType) -> Vec<EventId> {
    let options = ReadOptions {
        event_types: vec![event_type.clone()],
        ..ReadOptions::recursive()
    };
    let found = store.read(Subject::root(), options);
    found.map_ok(|event| event.id).try_collect().await.unwrap()
}

fn with_type(events: &[RecordedEvent], like: &RecordedEvent) -> Vec<EventId> {
    let alike = events
        .iter()
        .filter(|event| event.event_type == like.event_type);
    alike.map(|event| event.id).collect()
}

#[tokio::test]
async fn a_crash_at_any_point_of_a_compaction_loses_nothing() {
    let (directory, crashed) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let store = EmbeddedStore::open_with(directory.path(), tiny(), None).unwrap();
    for number in 0..26 {
        let mut one = candidate(&format!("/a/{:02}", number * 7 % 26), number);
        one.event_type = format!("io.example.Type{}", number % 3).parse().unwrap();
        store.append(vec![one], vec![]).await.unwrap();
        let now = crashed.path().join(number.to_string());
        copy(directory.path(), &now);
        let reopened = EmbeddedStore::open_with(&now, tiny(), None).unwrap();
        let events = all(&reopened).await;
        assert_eq!(events.len(), number + 1);
        assert_whole(&reopened, &events).await;
        let next = reopened
            .append(vec![candidate("/b", 0)], vec![pristine("/b")])
            .await;
        assert_eq!(next.unwrap()[0].id.get(), number as u64 + 1);
        assert_chain(&all(&reopened).await);
    }
    let indexed = store.open.shared.log().index.covered();
    assert!(
        (1..26).contains(&indexed),
        "the index in memory and on disk were in use: {indexed}"
    );
}

#[tokio::test]
async fn a_closed_store_opens_with_nothing_left_to_do() {
    let directory = TempDir::new().unwrap();
    let store = EmbeddedStore::open_with(directory.path(), tiny(), None).unwrap();
    for number in 0..23 {
        append(&store, &[&format!("/a/{number}")]).await.unwrap();
    }
    store.close().await;
    drop(store);
    let store = EmbeddedStore::open_with(directory.path(), tiny(), None).unwrap();
    assert_eq!(store.open.shared.log().index.covered(), 23);
    assert_whole(&store, &all(&store).await).await;
}

#[tokio::test]
async fn an_index_that_fell_far_behind_catches_up() {
    let directory = TempDir::new().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let subjects: Vec<_> = (0..50)
        .map(|number| format!("/a/{}", number % 40))
        .collect();
    let subjects: Vec<_> = subjects.iter().map(String::as_str).collect();
    append(&store, &subjects).await.unwrap();
    drop(store);
    let file = Connection::open(directory.path().join("events.sqlite")).unwrap();
    file.execute_batch("DELETE FROM event_index; UPDATE index_state SET indexed = 0")
        .unwrap();
    drop(file);
    let store = EmbeddedStore::open_with(directory.path(), tiny(), None).unwrap();
    assert!(store.open.shared.log().index.covered() >= 40);
    let events = all(&store).await;
    assert_eq!(events.len(), 50);
    assert_whole(&store, &events).await;
}

/// Opens a fixture and writes to it; returns the types that it knew, each with whether it is a
/// phantom.
async fn known_after_opening(fixture: &[u8], hash: &str) -> Vec<(String, bool)> {
    let directory = TempDir::new().unwrap();
    std::fs::write(directory.path().join("events.sqlite"), fixture).unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let known: Vec<_> = store.read_event_types().try_collect().await.unwrap();
    let events = all(&store).await;
    assert_eq!(events.len(), 12);
    assert_whole(&store, &events).await;
    assert_eq!(events[11].hash.to_string(), hash, "no event was changed");
    let traced = events[11].trace.as_ref().unwrap();
    assert_eq!(traced.state(), Some("vendor=1"));
    assert_eq!(append(&store, &["/new"]).await.unwrap()[0].id.get(), 12);
    drop(store);
    let store = EmbeddedStore::open(directory.path()).unwrap();
    assert_eq!(all(&store).await.len(), 13);
    let named = |known: KnownEventType| (known.event_type.to_string(), known.is_phantom);
    known.into_iter().map(named).collect()
}

#[tokio::test]
async fn a_file_of_version_1_opens() {
    let hash = "2ab961f3e4ff68bf2c3fc76fefdeb79779e7b4d68436b4036a9ce9e229434843";
    let known = known_after_opening(VERSION_1, hash).await;
    assert_eq!(known, [("io.example.Happened".to_owned(), false)]);
}

#[tokio::test]
async fn a_file_of_version_2_opens() {
    let hash = "6c6936b168ba84bcef7aa006852e2702df7618dcbc385f68d92ced6c833ba5bc";
    let known = known_after_opening(VERSION_2, hash).await;
    let happened = ("io.example.Happened".to_owned(), false);
    assert_eq!(known, [happened, ("io.example.Planned".to_owned(), true)]);
}

#[tokio::test]
async fn a_file_of_version_3_opens() {
    let hash = "d37df4803e4a5f53383c8c8c1a1d41075cb6cf8cb90397c27b4cfb67c9c7f4dc";
    let known = known_after_opening(VERSION_3, hash).await;
    let happened = ("io.example.Happened".to_owned(), false);
    assert_eq!(known, [happened, ("io.example.Planned".to_owned(), true)]);
}

#[tokio::test]
async fn a_file_of_version_4_opens() {
    let hash = "dbaa817899c56df93957b258ffb42f78e26d3129f5d5e396513b6bca90845715";
    let known = known_after_opening(VERSION_4, hash).await;
    let happened = ("io.example.Happened".to_owned(), false);
    assert_eq!(known, [happened, ("io.example.Planned".to_owned(), true)]);
}

#[tokio::test]
async fn a_file_of_version_6_opens() {
    let directory = TempDir::new().unwrap();
    std::fs::write(directory.path().join("events.sqlite"), VERSION_6).unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let events = all(&store).await;
    assert_eq!(events.len(), 9);
    assert_whole(&store, &events).await;
    let verified = verify(&store, |_| {}).await.unwrap();
    assert_eq!((verified.events, verified.damage), (9, vec![]));
    append(&store, &["/a/1"]).await.unwrap();
}

#[tokio::test]
async fn a_file_of_version_3_is_indexed_part_by_part() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("events.sqlite");
    std::fs::write(&file, VERSION_3).unwrap();
    // A sorted run holds the entries of about three events.
    let settings = EngineSettings {
        memtable_entries: 4,
        ..tiny()
    };
    let connection = database_format::open_writer(&file, &settings).unwrap();
    let covered = |connection: &Connection| -> i64 {
        let sql = "SELECT indexed FROM index_state";
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(covered(&connection), 0);
    drop(connection);
    let store = EmbeddedStore::open_with(directory.path(), settings, None).unwrap();
    let events = all(&store).await;
    assert_eq!(events.len(), 12);
    assert!(store.open.shared.log().index.covered() >= 8);
    assert_whole(&store, &events).await;
    let copied = directory.path().join("copy");
    copy(directory.path(), &copied);
    let reopened = EmbeddedStore::open_with(&copied, settings, None).unwrap();
    assert_whole(&reopened, &events).await;
}

#[tokio::test]
async fn schemas_hold_after_a_later_start() {
    let directory = TempDir::new().unwrap();
    std::fs::write(directory.path().join("events.sqlite"), VERSION_2).unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let schema = r#"{"type":"object","properties":{"number":{"minimum":100}}}"#;
    let schema = || EventSchema::parse(schema).unwrap();
    let happened = "io.example.Lent".parse::<EventType>().unwrap();
    let registering = store.register_event_schema(happened.clone(), schema());
    registering.await.unwrap();
    drop(store);
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let mut lent = candidate("/a", 1);
    lent.event_type = happened.clone();
    let refused = store.append(vec![lent], vec![]).await;
    assert!(
        matches!(refused, Err(AppendError::Schema(_))),
        "{refused:?}"
    );
    let again = store.register_event_schema(happened, schema()).await;
    assert!(again.is_err());
}

fn refusal(directory: &Path) -> String {
    EmbeddedStore::open(directory).unwrap_err().to_string()
}

#[tokio::test]
async fn a_directory_is_held_by_one_store_at_a_time() {
    let directory = TempDir::new().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let text = directory.path().display().to_string();
    assert_eq!(
        refusal(directory.path()),
        format!("the data directory {text} is in use: another process has it open")
    );
    drop(store);
    assert!(EmbeddedStore::open(directory.path()).is_ok());
}

#[test]
fn what_is_no_event_store_of_ours_is_named_and_left_alone() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("events.sqlite");
    let foreign = vec![b'x'; 8_192];
    std::fs::write(&file, &foreign).unwrap();
    assert!(refusal(directory.path()).ends_with("it is not a SQLite database"));
    assert_eq!(std::fs::read(&file).unwrap(), foreign);

    std::fs::remove_file(&file).unwrap();
    let other = Connection::open(&file).unwrap();
    other
        .execute_batch("CREATE TABLE films (title TEXT)")
        .unwrap();
    let text = refusal(directory.path());
    assert!(
        text.ends_with("it is a database of another program"),
        "{text}"
    );

    drop(other);
    std::fs::write(&file, VERSION_1).unwrap();
    let newer = Connection::open(&file).unwrap();
    newer.pragma_update(None, "user_version", 8).unwrap();
    drop(newer);
    let refused = EmbeddedStore::open(directory.path()).unwrap_err();
    assert!(
        matches!(
            refused,
            OpenError::Newer {
                found: 8,
                known: 7,
                ..
            }
        ),
        "{refused}"
    );

    let not_a_directory = directory.path().join("file");
    std::fs::write(&not_a_directory, "").unwrap();
    assert!(refusal(&not_a_directory).starts_with("cannot use the data directory"));
}

#[cfg(unix)]
#[test]
fn nobody_else_may_look_into_a_new_directory() {
    use std::os::unix::fs::PermissionsExt as _;

    let parent = TempDir::new().unwrap();
    let directory = parent.path().join("a/b");
    drop(EmbeddedStore::open(&directory).unwrap());
    let mode = std::fs::metadata(&directory).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_temporary_store_takes_its_directory_with_it() {
    let store = EmbeddedStore::temporary().unwrap();
    let directory = store.file().parent().unwrap().to_owned();
    assert!(directory.exists());
    drop(store);
    assert!(!directory.exists());
}

/// Writes the fixture of the current format. Run it by hand after a change of the format.
#[tokio::test]
#[ignore = "writes a file"]
async fn write_the_fixture() {
    let directory = TempDir::new().unwrap();
    let store = EmbeddedStore::open_with(directory.path(), tiny(), None).unwrap();
    for number in 0..11 {
        let subject = format!("/books/0199a3c2-7d4e-7c3a-9f00-00000000000{}", number % 4);
        store
            .append(vec![candidate(&subject, number)], vec![])
            .await
            .unwrap();
    }
    let mut traced = candidate("/readers/1", 11);
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    traced.trace = es_event::TraceContext::new(Some(parent), Some("vendor=1")).unwrap();
    store.append(vec![traced], vec![]).await.unwrap();
    let schema = EventSchema::parse(r#"{"type":"object","properties":{}}"#).unwrap();
    let planned = store.register_event_schema("io.example.Planned".parse().unwrap(), schema);
    planned.await.unwrap();
    // The copy precedes the close, so some index entries are not on disk yet.
    let crashed = directory.path().join("crashed");
    copy(directory.path(), &crashed);
    let file = Connection::open(crashed.join("events.sqlite")).unwrap();
    file.pragma_update(None, "journal_mode", "DELETE").unwrap();
    drop(file);
    let to = concat!(env!("CARGO_MANIFEST_DIR"), "/src/fixtures/version-5.sqlite");
    std::fs::copy(crashed.join("events.sqlite"), to).unwrap();
    println!("{}", all(&store).await[11].hash);
}

#[tokio::test]
async fn only_the_owner_can_use_the_files() {
    use std::{
        fs::{self, Permissions},
        os::unix::fs::PermissionsExt as _,
    };
    let folder = tempfile::tempdir().unwrap();
    // The directory exists and others may enter it.
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let modes = || {
        let files = fs::read_dir(folder.path()).unwrap().map(Result::unwrap);
        let mut files: Vec<_> = files
            .map(|file| {
                let mode = file.metadata().unwrap().permissions().mode() & 0o777;
                (file.file_name().into_string().unwrap(), mode)
            })
            .collect();
        files.sort();
        files
    };
    let store = EmbeddedStore::open(folder.path()).unwrap();
    append(&store, &["/a"]).await.unwrap();
    let names: Vec<_> = modes().into_iter().map(|(name, _)| name).collect();
    for name in [
        "events.lock",
        "events.sqlite",
        "events.sqlite-shm",
        "events.sqlite-wal",
    ] {
        assert!(names.iter().any(|file| file == name), "{names:?}");
    }
    assert!(
        modes().iter().all(|(_, mode)| *mode == 0o600),
        "{:?}",
        modes()
    );
    drop(store);
    // As earlier versions left them.
    for (name, _) in modes() {
        if name.starts_with("events.sqlite") {
            fs::set_permissions(folder.path().join(name), Permissions::from_mode(0o644)).unwrap();
        }
    }
    let store = EmbeddedStore::open(folder.path()).unwrap();
    append(&store, &["/a"]).await.unwrap();
    assert!(
        modes().iter().all(|(_, mode)| *mode == 0o600),
        "{:?}",
        modes()
    );
}
