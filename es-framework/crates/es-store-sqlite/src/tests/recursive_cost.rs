//! A recursive read costs in proportion to the events that it returns, in a store of any size. The
//! tests count the instructions of SQLite's virtual machine, each of which handles at most one row.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures_util::TryStreamExt as _;
use rusqlite::Connection;

use super::support::{candidate, eventually};
use crate::{
    EmbeddedStore, chunk_collector::EventChunkCollector, scan_plan::ReadPlan, shared::SharedState,
    store_settings::EngineSettings,
};
use es_event::RecordedEvent;
use es_store::{
    EventLog as _, Order, ReadOptions, StoreError,
    scan::{self, Chunk, ChunkSource, Scan},
};

/// Runs the plans of a store's reads on a connection that counts.
#[derive(Clone)]
struct CountingReader {
    shared: Arc<SharedState>,
    settings: EngineSettings,
    connection: Arc<Mutex<Connection>>,
    steps: Arc<AtomicU64>,
}

#[async_trait]
impl ChunkSource for CountingReader {
    type Events = Vec<RecordedEvent>;

    const EVENTS: u64 = 1_000;

    async fn chunk(&self, scan: &Scan) -> Result<Chunk, StoreError> {
        let limits = self.settings.chunk;
        let most = scan.next_count(limits.events);
        let plan = ReadPlan::choose(scan, &self.shared.log().index, most);
        let connection = self.connection.lock().unwrap();
        let chunk = plan.read_chunk(&connection, scan, EventChunkCollector::new(most, limits));
        chunk.map_err(|error| error.to_store_error(&self.shared.file))
    }
}

impl CountingReader {
    fn new(store: &EmbeddedStore) -> Self {
        let mut connection = Connection::open(store.file()).unwrap();
        let steps = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&steps);
        let count = move || {
            counted.fetch_add(1, Ordering::Relaxed);
            false
        };
        connection.progress_handler(1, Some(count)).unwrap();
        Self {
            shared: Arc::clone(&store.open.shared),
            settings: store.reader.settings,
            connection: Arc::new(Mutex::new(connection)),
            steps,
        }
    }

    /// The number of events below a subject, and of the instructions that it took to read them.
    async fn read(&self, store: &EmbeddedStore, subject: &str, order: Order) -> (usize, u64) {
        let options = ReadOptions {
            order,
            ..ReadOptions::recursive()
        };
        let before = self.steps.load(Ordering::Relaxed);
        let subject = subject.parse().unwrap();
        let chunks = scan::chunks(store.reader.clone(), self.clone(), subject, options);
        let chunks: Vec<_> = chunks.try_collect().await.unwrap();
        let steps = self.steps.load(Ordering::Relaxed) - before;
        (chunks.concat().len(), steps)
    }
}

/// Appends events of books with two events of their own and one of a page each.
async fn grow(store: &EmbeddedStore, books: std::ops::Range<usize>) {
    for some in books.collect::<Vec<_>>().chunks(1_000) {
        let subjects = some.iter().flat_map(|book| {
            let (book, page) = (format!("/books/{book}"), format!("/books/{book}/pages/1"));
            [book.clone(), page, book]
        });
        let batch = subjects.map(|subject| candidate(&subject, 0)).collect();
        store.append(batch, vec![]).await.unwrap();
    }
}

async fn read_costs_the_same_at_any_size(settings: EngineSettings, is_on_disk: bool) {
    let store = EmbeddedStore::temporary_with(settings).unwrap();
    let mut steps_of_reads = Vec::new();
    let mut books = 0;
    for size in [10, 1_000, 5_000, 7_000] {
        grow(&store, books..size).await;
        books = size;
        if is_on_disk {
            let covered = || store.open.shared.log().index.covered();
            eventually(|| covered() == 3 * size as u64).await;
        }
        let reader = CountingReader::new(&store);
        for order in [Order::Chronological, Order::Antichronological] {
            for (subject, count) in [("/books/7", 3), ("/books/7/pages", 1), ("/books/new", 0)] {
                let (events, steps) = reader.read(&store, subject, order).await;
                assert_eq!(events, count, "{subject}");
                assert!(
                    steps <= 60 + 60 * count as u64,
                    "{subject}: {steps} at {size}"
                );
                steps_of_reads.push(steps);
            }
        }
        let (events, steps) = reader.read(&store, "/books", Order::Chronological).await;
        assert_eq!(events, 3 * size);
        assert!(steps <= 1_000 + 60 * events as u64, "{steps} for {events}");
    }
    let costs: Vec<_> = steps_of_reads.chunks(6).collect();
    for cost in &costs {
        let growth = cost
            .iter()
            .zip(costs[0])
            .map(|(now, at_first)| now.abs_diff(*at_first));
        assert!(growth.max() < Some(10), "{costs:?}");
    }
}

#[tokio::test]
async fn a_recursive_read_costs_the_same_at_any_size_of_the_store() {
    let settings = EngineSettings {
        idle: Duration::from_secs(3_600),
        ..EngineSettings::default()
    };
    read_costs_the_same_at_any_size(settings, false).await;
}

#[tokio::test]
async fn a_recursive_read_costs_the_same_when_the_index_is_on_the_disk() {
    let settings = EngineSettings {
        idle: Duration::from_millis(1),
        ..EngineSettings::default()
    };
    read_costs_the_same_at_any_size(settings, true).await;
}

#[tokio::test]
async fn the_first_event_below_a_subject_costs_one_row() {
    let store = EmbeddedStore::temporary().unwrap();
    grow(&store, 0..2_000).await;
    let reader = CountingReader::new(&store);
    let first = |reader: CountingReader| {
        let options = ReadOptions::recursive().first_only();
        let subject = "/books".parse().unwrap();
        scan::chunks(store.reader.clone(), reader, subject, options).try_collect::<Vec<_>>()
    };
    let events = first(reader.clone()).await.unwrap().concat();
    assert_eq!(events.len(), 1);
    let steps = reader.steps.load(Ordering::Relaxed);
    assert!(steps <= 200, "{steps}");
}
