//! The lag of what follows the events, while single events are written at a steady rate: of a read model, of a
//! reaction and of a live query, on the embedded store, on PostgreSQL and on an event store in a process of its own.
//!
//! `cargo build --release -p es-server && cargo bench -p es-framework --bench lag -- [events a second] [seconds]`

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "a benchmark may fail by panicking, and it prints"
)]

mod follow;
#[allow(dead_code, unused_imports, reason = "the benchmark uses a part of it")]
#[path = "../../crates/es-server/tests/event_store/server_process.rs"]
mod server_process;
#[path = "../../tests/support/mod.rs"]
mod support;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use es_framework::{
    event::{Event as _, EventCandidate, EventType},
    store::{
        EventStore,
        eventsourcingdb::{ClientSettings, EventSourcingDbStore},
        postgres::PostgresStore,
        sqlite::EmbeddedStore,
    },
};
use serde_json::value::RawValue;
use tokio::{task::JoinSet, time::MissedTickBehavior};

use follow::{Followers, TickedEvent};
use server_process::{ServerProcess, TOKEN};
use support::postgres_server::PostgresServer;

/// The number of appends that may be under way at once.
const WRITERS: usize = 256;
/// The number of subjects, and so of rows.
const SUBJECTS: u64 = 64;

/// The times at which each event was acknowledged and reached the reaction, in microseconds after the start.
struct Timeline {
    begin: Instant,
    acknowledged: Vec<AtomicU64>,
    reacted: Vec<AtomicU64>,
    /// The id of the last event that was acknowledged.
    last: AtomicU64,
}

impl Timeline {
    fn new(count: usize) -> Self {
        let times = || (0..count).map(|_| AtomicU64::new(0)).collect();
        Self {
            begin: Instant::now(),
            acknowledged: times(),
            reacted: times(),
            last: AtomicU64::new(0),
        }
    }

    fn now(&self) -> u64 {
        self.begin.elapsed().as_micros() as u64
    }

    fn acknowledge(&self, number: u64, id: u64) {
        self.acknowledged[number as usize].store(self.now(), Ordering::Release);
        self.last.fetch_max(id, Ordering::AcqRel);
    }

    /// Returns the time from the acknowledgement of an event until `seen`. Some are seen before.
    fn lag(&self, number: usize, seen: u64) -> u64 {
        seen.saturating_sub(self.acknowledged[number].load(Ordering::Acquire))
    }
}

fn candidate(number: u64) -> EventCandidate {
    let id = number % SUBJECTS;
    let data = format!(r#"{{"metadata":{{}},"payload":{{"id":{id},"number":{number}}}}}"#);
    EventCandidate {
        source: "tag:lag".into(),
        subject: format!("/ticks/{id}").parse().unwrap(),
        event_type: EventType::declared(TickedEvent::TYPE),
        data: RawValue::from_string(data).unwrap(),
        trace: None,
    }
}

/// Writes single events at a rate, several at once if the store is slow. Returns how long that took.
async fn write(store: Arc<dyn EventStore>, timeline: &Arc<Timeline>, rate: u64) -> Duration {
    let begin = Instant::now();
    let mut tick = tokio::time::interval(Duration::from_millis(1));
    tick.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut writing = JoinSet::new();
    for number in 0..timeline.acknowledged.len() as u64 {
        while begin.elapsed().as_micros() as u64 * rate < number * 1_000_000 {
            tick.tick().await;
        }
        if writing.len() >= WRITERS {
            writing.join_next().await.unwrap().unwrap();
        }
        let (store, timeline) = (Arc::clone(&store), Arc::clone(timeline));
        writing.spawn(async move {
            let recorded = store.append(vec![candidate(number)], vec![]).await.unwrap();
            timeline.acknowledge(number, recorded[0].id.get());
        });
    }
    writing.join_all().await;
    begin.elapsed()
}

/// Prints a line of the table.
fn print_line(engine: &str, what: &str, rate: f64, mut lags: Vec<u64>) {
    lags.sort_unstable();
    let at = |percent: usize| lags[(lags.len() - 1) * percent / 100] as f64 / 1e3;
    println!(
        "| {engine} | {rate:.0}/s | {what} | {} | {:.1} ms | {:.1} ms | {:.1} ms |",
        lags.len(),
        at(50),
        at(99),
        at(100)
    );
}

async fn measure(
    engine: &str,
    follows: Arc<dyn EventStore>,
    writes: Arc<dyn EventStore>,
    (rate, seconds): (u64, u64),
) {
    let timeline = Arc::new(Timeline::new((rate * seconds) as usize));
    let followers = Followers::start(follows, Arc::clone(&timeline)).await;
    let time = write(writes, &timeline, rate).await;
    let written = timeline.acknowledged.len() as f64 / time.as_secs_f64();
    let lags = followers.finish().await;
    print_line(
        engine,
        "read model, as a query waits for it",
        written,
        lags.read_model,
    );
    print_line(engine, "reaction", written, lags.reaction);
    print_line(engine, "live query", written, lags.live_query);
}

#[tokio::main]
async fn main() {
    // Cargo adds flags of its own.
    let numbers: Vec<u64> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let number = |index: usize, default| numbers.get(index).copied().unwrap_or(default);
    let plan = (number(0, 5_000), number(1, 10));
    println!("| engine | written | follows | samples | median | 99th percentile | longest |");
    println!("|---|---|---|---|---|---|---|");
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let store = EmbeddedStore::open(&folder.path().join("embedded")).unwrap();
    let store: Arc<dyn EventStore> = Arc::new(store);
    measure("embedded", Arc::clone(&store), store, plan).await;
    if let Some(server) = PostgresServer::start() {
        // The writer is another instance.
        let open = async || {
            let store = PostgresStore::open(server.url().parse().unwrap()).await;
            Arc::new(store.unwrap())
        };
        measure("PostgreSQL", open().await, open().await, plan).await;
    }
    let data = folder.path().join("server");
    let data = format!("--data-directory={}", data.display());
    let server = ServerProcess::start(&[&data, "--http-port=0"]);
    let client = || {
        let settings = ClientSettings::new(&server.url, TOKEN);
        Arc::new(EventSourcingDbStore::new(settings).unwrap())
    };
    measure("over HTTP", client(), client(), plan).await;
}
