//! Bytes that change on the disk, and files that are lost.

use std::{fs, path::Path};

use futures_util::TryStreamExt as _;
use tempfile::TempDir;

use super::support::{append, candidate, tiny};
use crate::{EmbeddedStore, store_settings::EngineSettings};
use es_event::{LineFormat, Subject};
use es_store::{EventLog as _, EventSchema, ReadOptions, StoreCatalog as _, StoreError};

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
    /// Chooses bits of the files of a store.
    fn choose(directory: &Path, count: usize) -> Vec<Self> {
        let length = |file| fs::metadata(directory.join(file)).map_or(0, |file| file.len());
        let (database, log) = (length("events.sqlite"), length("events.sqlite-wal"));
        let mut numbers = Numbers(1);
        let choose = |_| {
            let position = numbers.below(database + log);
            let (file, position) = match position.checked_sub(database) {
                None => ("events.sqlite", position),
                Some(position) => ("events.sqlite-wal", position),
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
                    // A damaged index misses events, and nothing may be decided on what is left. SQLite takes a damaged
                    // write-ahead log for a shorter one. Nothing is changed.
                    let is_shorter = flip.file == "events.sqlite-wal";
                    let is_closed = store.health().await.is_err();
                    assert!(is_closed || is_shorter, "{flip:?} is not noticed");
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
    assert!(outcomes[1] > 100 && outcomes[2] > 100, "{outcomes:?}");
}

#[tokio::test]
async fn a_write_ahead_log_without_its_database_is_refused() {
    let (directory, lost) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let store = EmbeddedStore::open(directory.path()).unwrap();
    append(&store, &["/a", "/b"]).await.unwrap();
    copy_all(directory.path(), lost.path());
    let log = lost.path().join("events.sqlite-wal");
    let before = fs::read(&log).unwrap();
    fs::remove_file(lost.path().join("events.sqlite")).unwrap();
    for _ in 0..2 {
        let refused = EmbeddedStore::open(lost.path()).unwrap_err().to_string();
        let reason = "it is missing, but its write-ahead log shows that there were events: restore it, or remove";
        assert!(refused.contains(reason), "{refused}");
        assert!(fs::read(&log).unwrap() == before, "nothing is overwritten");
    }
    fs::remove_file(&log).unwrap();
    let store = EmbeddedStore::open(lost.path()).unwrap();
    assert_eq!(append(&store, &["/a"]).await.unwrap()[0].id.get(), 0);
}
