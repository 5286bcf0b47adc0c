//! A read model rebuilt from the embedded store into SQLite in memory, beside what rusqlite writes
//! row by row, and beside reading the events alone; and from an event store in a process of its own.
//! Read the ratios: all of it shares the machine's mood.
//!
//! `cargo build --release -p es-server && cargo bench -p es-framework --bench rebuild -- [events] [books]`; with
//! fewer books than events, the other events lend them, and `event-store verify` checks the store at the end.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_precision_loss
)]

mod rebuilding;
#[allow(dead_code, reason = "the benchmark uses a part of it")]
#[path = "../crates/es-server/tests/event_store/server_process.rs"]
mod server_process;

use std::{
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use es_framework::{
    event::{EventCandidate, Metadata, Subject, encode},
    prelude::*,
    projection::{ReadModelDescriptor, ReadModels},
    query::QueryDescriptor,
    store::{
        EventLog, ObserveOptions,
        eventsourcingdb::{ClientSettings, EventSourcingDbStore},
        sqlite::EmbeddedStore,
    },
};
use futures_util::StreamExt as _;
use server_process::{ServerProcess, TOKEN};

#[derive(Event)]
struct BookPurchasedEvent {
    id: Uuid,
    isbn: String,
    title: String,
    author: String,
    num_pages: i64,
}

#[derive(Event)]
struct BookLentEvent {
    id: Uuid,
    reader: Uuid,
}

#[derive(ReadModel)]
#[read_model(table = "book_copies", subject = "/books/{id}")]
struct BookCopy {
    #[key]
    id: Uuid,
    isbn: String,
    title: String,
    author: String,
    num_pages: i64,
    reader: Option<Uuid>,
}

#[projection]
impl BookCopy {
    fn purchased(event: BookPurchasedEvent) -> Self {
        Self {
            id: event.id,
            isbn: event.isbn,
            title: event.title,
            author: event.author,
            num_pages: event.num_pages,
            reader: None,
        }
    }

    fn lent(&mut self, event: BookLentEvent) {
        self.reader = Some(event.reader);
    }
}

#[derive(Query)]
#[query(path = "/books", rows = BookCopy)]
struct BrowseStock {
    #[filter(contains)]
    title: Option<String>,
    #[filter(contains)]
    author: Option<String>,
}

fn purchase(id: Uuid) -> EventCandidate {
    let event = BookPurchasedEvent {
        id,
        isbn: "978-0756404079".into(),
        title: "The Name of the Wind".into(),
        author: "Patrick Rothfuss".into(),
        num_pages: 662,
    };
    candidate(id, &event)
}

fn lending(id: Uuid) -> EventCandidate {
    let reader = Uuid::new_v4();
    candidate(id, &BookLentEvent { id, reader })
}

fn candidate<E: Event>(id: Uuid, event: &E) -> EventCandidate {
    EventCandidate {
        source: "library-service".into(),
        subject: format!("/books/{id}").parse().unwrap(),
        event_type: E::TYPE.parse().unwrap(),
        data: encode(&Metadata::default(), event).unwrap(),
        trace: None,
    }
}

/// Purchases the books, and lends them in turns.
async fn fill(store: &EmbeddedStore, events: usize, books: usize) {
    let ids: Vec<Uuid> = (0..books).map(|_| Uuid::new_v4()).collect();
    for first in (0..events).step_by(1_000) {
        let candidates = (first..events.min(first + 1_000)).map(|number| match ids.get(number) {
            Some(id) => purchase(*id),
            None => lending(ids[number % books]),
        });
        store.append(candidates.collect(), vec![]).await.unwrap();
    }
}

fn report(what: &str, events: usize, time: Duration) {
    let rate = events as f64 / time.as_secs_f64();
    println!(
        "{what:<44} {:>7.2} s {rate:>10.0} events/s",
        time.as_secs_f64()
    );
}

async fn read_alone(store: &dyn EventLog, events: usize, what: &str) {
    let begin = Instant::now();
    let observed = store.observe(Subject::root(), ObserveOptions::recursive_after(None));
    let count = observed.take(events).count().await;
    report(what, count, begin.elapsed());
}

async fn rebuild(
    store: Arc<dyn EventLog>,
    events: usize,
    queries: Vec<QueryDescriptor>,
    what: &str,
) {
    let models = ReadModels::new([ReadModelDescriptor::of::<BookCopy>()]).unwrap();
    let models = models.with_indexes_of(&queries);
    let begin = Instant::now();
    rebuilding::rebuild(store, models).await;
    report(what, events, begin.elapsed());
}

fn rusqlite_row_by_row(events: usize) {
    let mut connection = rusqlite::Connection::open_in_memory().unwrap();
    let table = "CREATE TABLE books (place INTEGER PRIMARY KEY, id TEXT UNIQUE, isbn TEXT, \
         title TEXT, author TEXT, num_pages INTEGER, reader TEXT) STRICT";
    connection.execute_batch(table).unwrap();
    let ids: Vec<_> = (0..events).map(|_| Uuid::new_v4().to_string()).collect();
    let begin = Instant::now();
    let mut place = 0_i64;
    for batch in ids.chunks(1_000) {
        let transaction = connection.transaction().unwrap();
        let insert = "INSERT INTO books VALUES (?, ?, ?, ?, ?, ?, NULL)";
        let mut insert = transaction.prepare_cached(insert).unwrap();
        for id in batch {
            place += 1;
            let (isbn, title) = ("978-0756404079", "The Name of the Wind");
            insert
                .execute((place, id, isbn, title, "Patrick Rothfuss", 662))
                .unwrap();
        }
        drop(insert);
        transaction.commit().unwrap();
    }
    report("rusqlite row by row", events, begin.elapsed());
}

#[tokio::main]
async fn main() {
    let mut numbers = std::env::args().filter_map(|argument| argument.parse().ok());
    let events = numbers.next().unwrap_or(1_000_000_usize);
    let books = numbers.next().unwrap_or(events);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let store = EmbeddedStore::open(folder.path()).unwrap();
    let begin = Instant::now();
    fill(&store, events, books).await;
    if books < events {
        report("appends of 1000 events", events, begin.elapsed());
        return measure_large(store, folder.path(), events).await;
    }
    let embedded: Arc<dyn EventLog> = Arc::new(store.clone());
    for _ in 0..2 {
        read_alone(&*embedded, events, "the events alone").await;
        rusqlite_row_by_row(events);
        rebuild(Arc::clone(&embedded), events, vec![], "rebuild").await;
        let searched = vec![QueryDescriptor::of::<BrowseStock>()];
        let what = "rebuild with two searched columns";
        rebuild(Arc::clone(&embedded), events, searched, what).await;
    }
    store.close().await;
    drop((store, embedded));
    elsewhere(folder.path(), events).await;
}

/// One rebuild from a store with many events, and its verification.
async fn measure_large(store: EmbeddedStore, folder: &Path, events: usize) {
    let embedded: Arc<dyn EventLog> = Arc::new(store.clone());
    read_alone(&*embedded, events, "the events alone").await;
    rebuild(embedded, events, vec![], "rebuild").await;
    store.close().await;
    drop(store);
    let begin = Instant::now();
    let mut verify = Command::new(server_process::program());
    let verify = verify.arg("verify").arg("--data-directory").arg(folder);
    assert!(verify.status().unwrap().success());
    report("event-store verify", events, begin.elapsed());
}

/// The same events from another process.
async fn elsewhere(folder: &Path, events: usize) {
    let folder = folder.to_str().unwrap();
    let server = ServerProcess::start(&["--data-directory", folder, "--http-port=0"]);
    let settings = ClientSettings::new(&server.url, TOKEN);
    let store: Arc<dyn EventLog> = Arc::new(EventSourcingDbStore::new(settings).unwrap());
    for _ in 0..2 {
        let what = "from another process: the events alone";
        read_alone(&*store, events, what).await;
        let what = "from another process: rebuild";
        rebuild(Arc::clone(&store), events, vec![], what).await;
    }
}
