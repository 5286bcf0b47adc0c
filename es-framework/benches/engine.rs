//! Durable appends a second of the embedded store, beside a bare segment file with the same queue
//! in front of it: read the ratio, both share the machine's mood.
//!
//! `cargo bench -p es-framework --bench engine -- [seconds a cell] [events stored] [writers…]`

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::arithmetic_side_effects
)]
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

mod segment;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use es_framework::{
    event::{EventCandidate, Subject},
    store::{AppendError, EventLog, Precondition, ReadOptions, sqlite::EmbeddedStore},
};
use futures_util::TryStreamExt as _;
use segment::SegmentFile;
use serde_json::value::RawValue;
use uuid::Uuid;

/// Together with what the store adds, an event of 565 bytes as the API sends it.
const DATA: &str = r#"{"metadata":{},"payload":{"id":"0199a3c2-7d4e-7c3a-9f00-0123456789ab","isbn":"978-0756404079","title":"The Name of the Wind","author":"Patrick Rothfuss","numPages":662}}"#;

struct Plan {
    seconds: f64,
    events: usize,
    writers: Vec<usize>,
}

fn plan() -> Plan {
    // Cargo adds flags of its own.
    let numbers: Vec<f64> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let writers = numbers
        .iter()
        .skip(2)
        .map(|n| *n as usize)
        .collect::<Vec<_>>();
    Plan {
        seconds: numbers.first().copied().unwrap_or(3.0),
        events: numbers.get(1).map_or(1_000_000, |n| *n as usize),
        writers: if writers.is_empty() {
            vec![1, 16, 64, 256, 1024]
        } else {
            writers
        },
    }
}

fn candidate(subject: Subject) -> EventCandidate {
    EventCandidate {
        source: "library-service".into(),
        subject,
        event_type: "com.example.library.BookPurchasedEvent".parse().unwrap(),
        data: RawValue::from_string(DATA.to_owned()).unwrap(),
        trace: None,
    }
}

fn fresh() -> Subject {
    format!("/books/{}", Uuid::new_v4()).parse().unwrap()
}

/// What is measured: something that appends one event durably.
trait Target: Clone + Send + Sync + 'static {
    fn append(
        &self,
        candidate: EventCandidate,
        condition: Precondition,
    ) -> impl Future<Output = Result<(), AppendError>> + Send;
}

impl Target for EmbeddedStore {
    async fn append(
        &self,
        event: EventCandidate,
        condition: Precondition,
    ) -> Result<(), AppendError> {
        EventLog::append(self, vec![event], vec![condition])
            .await
            .map(drop)
    }
}

impl Target for SegmentFile {
    async fn append(
        &self,
        event: EventCandidate,
        condition: Precondition,
    ) -> Result<(), AppendError> {
        self.append(event, condition).await;
        Ok(())
    }
}

struct Rate {
    per_second: f64,
    p50: Duration,
    p99: Duration,
    /// The longest time in which no append of any writer ended.
    standstill: Duration,
}

async fn measure(target: &impl Target, writers: usize, time: Duration) -> Rate {
    let (done, stop) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let begun = Instant::now();
    let tasks: Vec<_> = (0..writers)
        .map(|_| {
            let (target, done, stop) = (target.clone(), Arc::clone(&done), Arc::clone(&stop));
            tokio::spawn(async move {
                let mut times = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    let (subject, begun) = (fresh(), Instant::now());
                    let condition = Precondition::SubjectIsPristine(subject.clone());
                    target.append(candidate(subject), condition).await.unwrap();
                    let end = Instant::now();
                    times.push((end, end.duration_since(begun)));
                    done.fetch_add(1, Ordering::Relaxed);
                }
                times
            })
        })
        .collect();
    tokio::time::sleep(time).await;
    let (count, elapsed) = (done.load(Ordering::Relaxed), begun.elapsed());
    stop.store(true, Ordering::Relaxed);
    let mut appends = Vec::new();
    for task in tasks {
        appends.extend(task.await.unwrap());
    }
    appends.sort_unstable();
    let gaps = appends
        .windows(2)
        .map(|pair| pair[1].0.duration_since(pair[0].0));
    let standstill = gaps.max().unwrap_or_default();
    let mut times: Vec<Duration> = appends.iter().map(|(_, time)| *time).collect();
    times.sort_unstable();
    let quantile = |part: usize| {
        times
            .get(times.len() * part / 100)
            .copied()
            .unwrap_or_default()
    };
    Rate {
        per_second: count as f64 / elapsed.as_secs_f64(),
        p50: quantile(50),
        p99: quantile(99),
        standstill,
    }
}

/// Events of subjects of their own, and ten of one in between.
async fn fill(store: &EmbeddedStore, events: usize, one: &Subject) {
    const BATCH: usize = 1_000;
    let every = (events / 10).max(1);
    for first in (0..events).step_by(BATCH) {
        let batch = (first..events.min(first + BATCH)).map(|number| {
            candidate(if number % every == 0 {
                one.clone()
            } else {
                fresh()
            })
        });
        EventLog::append(store, batch.collect(), vec![])
            .await
            .unwrap();
    }
}

fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    line.map_or_else(String::new, |line| line.replace(['\t', ' '], " "))
}

async fn large(plan: &Plan, directory: &Path) {
    let one = fresh();
    let store = EmbeddedStore::open(directory).unwrap();
    let begun = Instant::now();
    fill(&store, plan.events, &one).await;
    let rate = plan.events as f64 / begun.elapsed().as_secs_f64();
    println!(
        "\n{} events in appends of 1000: {rate:.0} events/s, {}",
        plan.events,
        resident()
    );
    writes(&store, plan, directory).await;
    store.close().await;
    drop(store);
    let begun = Instant::now();
    let store = EmbeddedStore::open(directory).unwrap();
    println!("open after a close: {:?}", begun.elapsed());
    let mut times = Vec::new();
    for _ in 0..200 {
        let begun = Instant::now();
        let events: Vec<_> = store
            .read(one.clone(), ReadOptions::default())
            .try_collect()
            .await
            .unwrap();
        times.push(begun.elapsed());
        assert!(events.len() >= 10);
    }
    times.sort_unstable();
    println!(
        "ten events of one subject, warm: {:?} (median)",
        times.get(100).unwrap()
    );
    for _ in 0..2 {
        let (begun, mut count) = (Instant::now(), 0);
        let mut events = store.read(Subject::root(), ReadOptions::recursive());
        while let Some(event) = events.try_next().await.unwrap() {
            count += usize::from(event.id.get() < u64::MAX);
        }
        let rate = f64::from(u32::try_from(count).unwrap()) / begun.elapsed().as_secs_f64();
        println!("reading all {count}: {rate:.0} events/s, {}", resident());
    }
    let size = std::fs::metadata(store.file()).unwrap().len();
    println!(
        "{} bytes on disk an event",
        size / read_length(&store).await
    );
}

async fn read_length(store: &EmbeddedStore) -> u64 {
    let options = ReadOptions {
        order: es_framework::store::Order::Antichronological,
        ..ReadOptions::recursive()
    };
    let last = store
        .read(Subject::root(), options)
        .try_next()
        .await
        .unwrap();
    last.map_or(1, |event| event.id.get() + 1)
}

/// The same writes into a large store, and how long it takes to open it after a crash just then.
async fn writes(store: &EmbeddedStore, plan: &Plan, directory: &Path) {
    let time = Duration::from_secs_f64(plan.seconds);
    let rate = measure(store, 256, time).await;
    println!(
        "256 writers on top: {:.0} events/s, p99 {:?}, {}",
        rate.per_second,
        rate.p99,
        resident()
    );
    let copy = directory.join("copy");
    std::fs::create_dir_all(&copy).unwrap();
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
        }
    }
    let begun = Instant::now();
    let crashed = EmbeddedStore::open(&copy).unwrap();
    println!("open after a crash: {:?}", begun.elapsed());
    drop(crashed);
    std::fs::remove_dir_all(copy).unwrap();
}

async fn compare(plan: &Plan, directory: &Path) {
    println!(
        "writers   segment/s  p50 ms  p99 ms   embedded/s  p50 ms  p99 ms  longest standstill ms   embedded/segment"
    );
    let time = Duration::from_secs_f64(plan.seconds);
    let store = EmbeddedStore::open(&directory.join("compared")).unwrap();
    let file = SegmentFile::create(&directory.join("segment"));
    for writers in &plan.writers {
        let bare = measure(&file, *writers, time).await;
        let ours = measure(&store, *writers, time).await;
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "{writers:>7} {:>11.0} {:>7.2} {:>7.2} {:>12.0} {:>7.2} {:>7.2} {:>22.1} {:>17.0} %",
            bare.per_second,
            ms(bare.p50),
            ms(bare.p99),
            ours.per_second,
            ms(ours.p50),
            ms(ours.p99),
            ms(ours.standstill),
            100.0 * ours.per_second / bare.per_second
        );
    }
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let plan = plan();
    let directory: PathBuf = std::env::temp_dir().join(format!("engine-{}", Uuid::new_v4()));
    std::fs::create_dir_all(&directory).unwrap();
    if !plan.writers.contains(&0) {
        compare(&plan, &directory).await;
    }
    if plan.events > 0 {
        large(&plan, &directory.join("large")).await;
    }
    std::fs::remove_dir_all(&directory).unwrap();
}
