//! Bytes that change on the disk, and files that are lost.

use std::{fs, path::Path};

use futures_util::TryStreamExt as _;
use tempfile::TempDir;

use super::support::{append, candidate, tiny};
use crate::{EmbeddedStore, EmbeddedStoreOptions, OpenError, store_settings::EngineSettings};
use es_event::{LineFormat, Subject};
use es_store::{EventSchema, EventStore as _, ReadOptions, StoreError};

/// The answers of a store to all kinds of reads, or the first error.
async fn answers(store: &EmbeddedStore) -> Result<Vec<String>, StoreError> {
    let mut answers = Vec::new();
    for (subject, options) in [
        ("/", ReadOptions::recursive()),
        ("/a", ReadOptions::recursive()),
        ("/a/1", ReadOptions::default()),
    ] {
        let subject = subject.parse().unwrap();
        let lines = store.read_lines(&subject, &options, LineFormat::Backup);
        let lines: Vec<_> = lines.unwrap().try_collect().await?;
        answers.push(String::from_utf8(lines.concat()).unwrap());
    }
    let of_b = store.read("/b".parse().unwrap(), ReadOptions::default());
    answers.push(format!("{:?}", of_b.try_collect::<Vec<_>>().await?));
    let subjects = store.read_subjects(Subject::root());
    answers.push(format!("{:?}", subjects.try_collect::<Vec<_>>().await?));
    let types = store.read_event_types();
    answers.push(format!("{:?}", types.try_collect::<Vec<_>>().await?));
    Ok(answers)
}

/// Appends 16 events and registers a schema.
async fn fill(store: &EmbeddedStore) {
    for number in 0..8 {
        let mut one = candidate(&format!("/a/{}", number % 4), number);
        one.event_type = format!("io.example.Type{}", number % 3).parse().unwrap();
        store
            .append(vec![one, candidate("/b", number)], vec![])
            .await
            .unwrap();
    }
    register_schema(store).await;
}

async fn register_schema(store: &EmbeddedStore) {
    let schema = r#"{"type":"object","properties":{"number":{"minimum":0}}}"#;
    let schema = EventSchema::parse(schema).unwrap();
    let phantom = "io.example.Planned".parse().unwrap();
    store.register_event_schema(phantom, schema).await.unwrap();
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % end
    }
}

/// One bit of one file.
#[derive(Debug, Clone, Copy)]
struct BitFlip {
    file: &'static str,
    position: u64,
    bit: u64,
}

impl BitFlip {
    /// Chooses bits of all files of a store. One of sixteen is in `events.end`, which is small.
    fn choose(directory: &Path, count: usize) -> Vec<Self> {
        let length = |file| fs::metadata(directory.join(file)).map_or(0, |file| file.len());
        let (database, log) = (length("events.sqlite"), length("events.sqlite-wal"));
        let end = length("events.end");
        let mut numbers = Numbers(1);
        let choose = |number: usize| {
            let position = numbers.below(database + log);
            let (file, position) = match (number % 16, position.checked_sub(database)) {
                (0, _) => ("events.end", numbers.below(end)),
                (_, None) => ("events.sqlite", position),
                (_, Some(position)) => ("events.sqlite-wal", position),
            };
            let bit = numbers.below(8);
            Self {
                file,
                position,
                bit,
            }
        };
        (0..count).map(choose).collect()
    }

    fn apply(self, directory: &Path) {
        let path = directory.join(self.file);
        let mut bytes = fs::read(&path).unwrap();
        bytes[usize::try_from(self.position).unwrap()] ^= 1 << self.bit;
        fs::write(&path, bytes).unwrap();
    }
}

/// The numbers of flips after which the start was refused, a read failed, and nothing changed.
type FlipOutcomes = [usize; 3];

/// Flips bits, each in a new copy of a directory.
async fn flip_bits(directory: &Path, flips: &[BitFlip], expected: &[String]) -> FlipOutcomes {
    let copies = memory_directory();
    let mut outcomes = FlipOutcomes::default();
    for (number, flip) in flips.iter().enumerate() {
        let copied = copies.path().join(number.to_string());
        copy_all(directory, &copied);
        flip.apply(&copied);
        let outcome = match EmbeddedStore::open_with(&copied, settings(), None) {
            Err(_) => 0,
            Ok(store) => match answers(&store).await {
                Err(_) => 1,
                Ok(found) if found == expected => 2,
                Ok(found) => {
                    // A damaged index misses events. Nothing may be decided on what is left, and nothing is changed.
                    assert!(store.health().await.is_err(), "{flip:?} is not noticed");
                    let lines = found.iter().flat_map(|answer| answer.lines());
                    for line in lines.filter(|line| line.starts_with("{\"type\"")) {
                        let is_right = expected.iter().any(|right| right.contains(line));
                        assert!(is_right, "{flip:?} is served: {line}");
                    }
                    1
                }
            },
        };
        outcomes[outcome] += 1;
        fs::remove_dir_all(&copied).unwrap();
    }
    outcomes
}

/// Flips 5,000 bits on several threads.
fn flip_many_bits(directory: &Path, expected: &[String]) -> FlipOutcomes {
    let flips = BitFlip::choose(directory, 5_000);
    let flip_part = |part| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let flipping = flip_bits(directory, part, expected);
        runtime.unwrap().block_on(flipping)
    };
    std::thread::scope(|scope| {
        let parts: Vec<_> = flips
            .chunks(1_250)
            .map(|part| scope.spawn(move || flip_part(part)))
            .collect();
        let mut sum = FlipOutcomes::default();
        for part in parts {
            for (total, count) in sum.iter_mut().zip(part.join().unwrap()) {
                *total += count;
            }
        }
        sum
    })
}

/// A directory in memory if the system has one: flushes take most of the time otherwise.
fn memory_directory() -> TempDir {
    TempDir::new_in("/dev/shm").unwrap_or_else(|_| TempDir::new().unwrap())
}

/// Small limits, so that a few events are in the memtable, in the index on disk and in several chunks.
fn settings() -> EngineSettings {
    let mut settings = tiny();
    settings.memtable_entries = 20;
    settings.checkpoint_pages = 10;
    settings.subjects = 64;
    settings.chunk.events = 10;
    settings.chunk.frame = 16 << 10;
    settings
}

#[tokio::test]
async fn a_flipped_bit_of_a_closed_store_is_never_served() {
    let directory = memory_directory();
    let store = EmbeddedStore::open_with(directory.path(), settings(), None).unwrap();
    fill(&store).await;
    let expected = answers(&store).await.unwrap();
    store.close().await;
    drop(store);
    let outcomes = flip_many_bits(directory.path(), &expected);
    println!("{outcomes:?}");
    assert!(outcomes.iter().all(|count| *count > 100), "{outcomes:?}");
}

#[tokio::test]
async fn a_flipped_bit_of_a_killed_store_is_never_served() {
    let (directory, killed) = (memory_directory(), memory_directory());
    let store = EmbeddedStore::open_with(directory.path(), settings(), None).unwrap();
    fill(&store).await;
    let expected = answers(&store).await.unwrap();
    copy_all(directory.path(), killed.path());
    let outcomes = flip_many_bits(killed.path(), &expected);
    println!("{outcomes:?}");
    // SQLite checks the write-ahead log, so no read sees a damaged page of it.
    assert!(outcomes[0] > 100 && outcomes[2] > 100, "{outcomes:?}");
}

/// A crashed store of 5 events, and of what its files hold.
async fn crashed(change: impl FnOnce(&Path)) -> TempDir {
    let (directory, crashed) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let store = EmbeddedStore::open(directory.path()).unwrap();
    append(&store, &["/a", "/b", "/c", "/d", "/e"])
        .await
        .unwrap();
    copy_all(directory.path(), crashed.path());
    change(crashed.path());
    crashed
}

fn refusal(directory: &Path) -> String {
    let refused = EmbeddedStore::open(directory).unwrap_err();
    assert!(
        matches!(refused, OpenError::EventsMissing { .. }),
        "{refused}"
    );
    refused.to_string()
}

#[tokio::test]
async fn a_missing_file_is_refused_until_the_loss_is_accepted() {
    let remove = |name: &'static str| move |at: &Path| fs::remove_file(at.join(name)).unwrap();
    let whole = crashed(|_| {}).await;
    assert!(EmbeddedStore::open(whole.path()).is_ok());
    let damaged = crashed(|at| {
        let log = at.join("events.sqlite-wal");
        let mut bytes = fs::read(&log).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(log, bytes).unwrap();
    });
    for lost in [
        crashed(remove("events.sqlite-wal")).await,
        crashed(remove("events.sqlite")).await,
        damaged.await,
    ] {
        let log = lost.path().join("events.sqlite-wal");
        let before = fs::read(&log).ok();
        let text = refusal(lost.path());
        assert!(text.contains("has 0 events, but 5 were stored"), "{text}");
        assert!(
            text.contains("the last 5 are missing: restore a backup, or accept"),
            "{text}"
        );
        if let Some(before) = before {
            assert!(fs::read(&log).unwrap() == before, "nothing is overwritten");
        }
        refusal(lost.path());
        let options = EmbeddedStoreOptions {
            accept_loss: true,
            ..EmbeddedStoreOptions::default()
        };
        let store = EmbeddedStore::open_with_options(lost.path(), options).unwrap();
        assert_eq!(append(&store, &["/a"]).await.unwrap()[0].id.get(), 0);
        store.close().await;
        drop(store);
        assert!(EmbeddedStore::open(lost.path()).is_ok());
    }
    // Without the small file, the write-ahead log shows that there were events.
    let lost = crashed(|at| {
        fs::remove_file(at.join("events.sqlite")).unwrap();
        fs::remove_file(at.join("events.end")).unwrap();
    });
    let text = refusal(lost.await.path());
    assert!(text.contains("its write-ahead log shows"), "{text}");
}

#[tokio::test]
async fn a_missing_schema_is_refused_until_the_loss_is_accepted() {
    let lost = TempDir::new().unwrap();
    let store = EmbeddedStore::open(lost.path()).unwrap();
    append(&store, &["/a"]).await.unwrap();
    register_schema(&store).await;
    store.close().await;
    let file = rusqlite::Connection::open(store.file()).unwrap();
    file.execute_batch("DELETE FROM event_schemas").unwrap();
    drop((store, file));
    let refused = EmbeddedStore::open(lost.path()).unwrap_err().to_string();
    assert!(
        refused.contains("has 0 schemas, but 1 were registered"),
        "{refused}"
    );
    let options = EmbeddedStoreOptions {
        accept_loss: true,
        ..EmbeddedStoreOptions::default()
    };
    drop(EmbeddedStore::open_with_options(lost.path(), options).unwrap());
    assert!(EmbeddedStore::open(lost.path()).is_ok());
}

#[tokio::test]
async fn events_of_another_store_are_refused() {
    let (one, other) = (crashed(|_| {}).await, crashed(|_| {}).await);
    fs::copy(
        one.path().join("events.end"),
        other.path().join("events.end"),
    )
    .unwrap();
    let refused = EmbeddedStore::open(other.path()).unwrap_err().to_string();
    assert!(refused.contains("event 4 is another one"), "{refused}");
}
