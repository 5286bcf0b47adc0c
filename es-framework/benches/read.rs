//! One full read over HTTP from the embedded store, beside what axum streams from memory; many
//! observers of a steady writer; and what an idle server costs. Read the ratios: all of it shares
//! the machine's mood, and the clients share its cores.
//!
//! `cargo bench -p es-framework --bench read -- [events] [observers] [events a second] [seconds]`

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing
)]
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use std::{
    convert::Infallible,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Router, body::Body, routing::post};
use bytes::Bytes;
use es_framework::{
    event::{Dialect, EventCandidate},
    server,
    store::{EventLog as _, sqlite::EmbeddedStore},
};
use futures_util::stream;
use serde_json::value::RawValue;
use tokio::{net::TcpListener, task::spawn_blocking, time::MissedTickBehavior};
use uuid::Uuid;

const TOKEN: &str = "secret";
const DATA: &str = r#"{"metadata":{},"payload":{"id":"0199a3c2-7d4e-7c3a-9f00-0123456789ab","isbn":"978-0756404079","title":"The Name of the Wind","author":"Patrick Rothfuss","numPages":662}}"#;
const EVERYTHING: &str = r#"{"subject":"/","options":{"recursive":true}}"#;

struct Plan {
    events: usize,
    observers: usize,
    rate: usize,
    seconds: usize,
}

fn plan() -> Plan {
    // Cargo adds flags of its own.
    let numbers: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let number = |index: usize, default| numbers.get(index).copied().unwrap_or(default);
    Plan {
        events: number(0, 1_000_000),
        observers: number(1, 100),
        rate: number(2, 5_000),
        seconds: number(3, 5),
    }
}

fn candidate() -> EventCandidate {
    EventCandidate {
        source: "tag:library-service".into(),
        subject: format!("/books/{}", Uuid::new_v4()).parse().unwrap(),
        event_type: "com.example.library.BookPurchasedEvent".parse().unwrap(),
        data: RawValue::from_string(DATA.to_owned()).unwrap(),
        trace: None,
    }
}

async fn write(store: &EmbeddedStore, count: usize) {
    let batch = (0..count).map(|_| candidate()).collect();
    store.append(batch, vec![]).await.unwrap();
}

/// The form of an answer.
#[derive(Clone, Copy, PartialEq)]
enum Chunks {
    /// As the framework's client reads it: many lines in an HTTP chunk.
    Batches,
    /// As other clients read it: each line in a chunk of its own.
    Lines,
}

/// A request whose answer is left to be read. The connection ends with the answer.
fn request(address: SocketAddr, route: &str, body: &str, chunks: Chunks) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let accepts_batches = chunks == Chunks::Batches;
    let request = format!(
        "POST /api/v1/{route} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\n\
         event-store-line-batches: {accepts_batches}\r\nconnection: close\r\n\
         content-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// Reads to the end and throws away: what a client does with the bytes is not measured.
fn drain(mut stream: TcpStream) -> usize {
    let mut buffer = vec![0; 256 * 1024];
    let (mut bytes, mut end) = (0, Vec::new());
    loop {
        let length = stream.read(&mut buffer).unwrap();
        if length == 0 {
            break;
        }
        bytes += length;
        end = buffer[length.saturating_sub(5)..length].to_vec();
    }
    assert!(end.ends_with(b"\r\n"), "the answer broke off");
    bytes
}

async fn timed(address: SocketAddr, chunks: Chunks) -> (usize, Duration) {
    let reading = spawn_blocking(move || {
        let begun = Instant::now();
        let bytes = drain(request(address, "read-events", EVERYTHING, chunks));
        (bytes, begun.elapsed())
    });
    reading.await.unwrap()
}

/// A server that holds what it streams, in frames of the usual size.
async fn from_memory(bytes: usize) -> SocketAddr {
    const FRAME: usize = 64 * 1024;
    let frame = Bytes::from(vec![b'x'; FRAME]);
    let handler = move || {
        let frames = std::iter::repeat_n(frame.clone(), bytes / FRAME);
        let frames = stream::iter(frames.map(Ok::<_, Infallible>));
        async { Body::from_stream(frames) }
    };
    let router = Router::new().route("/api/v1/read-events", post(handler));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, router).await });
    address
}

async fn reads(address: SocketAddr, events: usize) {
    let (bytes, _) = timed(address, Chunks::Batches).await;
    let memory = from_memory(bytes).await;
    println!("   batches/s     lines/s  lines/batches  memory/s (as events)  batches/memory");
    for _ in 0..4 {
        let rate = |time: Duration| events as f64 / time.as_secs_f64();
        let bare = rate(timed(memory, Chunks::Batches).await.1);
        let batches = rate(timed(address, Chunks::Batches).await.1);
        let lines = rate(timed(address, Chunks::Lines).await.1);
        let (of_batches, of_bare) = (100.0 * lines / batches, 100.0 * batches / bare);
        println!(
            "{batches:>12.0} {lines:>11.0} {of_batches:>12.0} % {bare:>21.0} {of_bare:>13.0} %"
        );
    }
}

/// Counts the events of an observation until there are as many as expected.
fn observer(address: SocketAddr, count: usize) -> Instant {
    let mut stream = request(address, "observe-events", EVERYTHING, Chunks::Batches);
    let (mut buffer, mut seen) = (vec![0; 64 * 1024], 0);
    // Every event has one, and nothing else does.
    let mark = b"specversion";
    let mut kept = 0;
    while seen < count {
        let length = kept + stream.read(&mut buffer[kept..]).unwrap();
        assert!(length > kept, "the observation ended");
        seen += buffer[..length]
            .windows(mark.len())
            .filter(|window| window == mark)
            .count();
        let tail = length.min(mark.len() - 1);
        buffer.copy_within(length - tail..length, 0);
        kept = tail;
    }
    Instant::now()
}

async fn fan_out(store: &EmbeddedStore, address: SocketAddr, plan: &Plan) {
    const STEP: Duration = Duration::from_millis(10);
    let count = plan.rate * plan.seconds;
    let observing: Vec<_> = (0..plan.observers)
        .map(|_| spawn_blocking(move || observer(address, count)))
        .collect();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let steps = 100 * plan.seconds;
    let mut tick = tokio::time::interval(STEP);
    tick.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let begun = Instant::now();
    let cpu = cpu_time();
    for step in 0..steps {
        tick.tick().await;
        write(store, count * (step + 1) / steps - count * step / steps).await;
    }
    let written = Instant::now();
    let mut last = begun;
    for observer in observing {
        last = last.max(observer.await.unwrap());
    }
    let used = (cpu_time() - cpu).as_secs_f64() / begun.elapsed().as_secs_f64();
    println!(
        "\n{} observers: {count} events written in {:?}, the last one had them {:?} later; \
         {used:.2} cores, observers included",
        plan.observers,
        written - begun,
        last.saturating_duration_since(written)
    );
}

/// What this process has used of the processor.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let ticks = |index: usize| -> u64 { fields.split(' ').nth(index).unwrap().parse().unwrap() };
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}

async fn serve(directory: &std::path::Path) -> (EmbeddedStore, SocketAddr) {
    let store = EmbeddedStore::open(directory).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut settings = server::ServerSettings::new(TOKEN.parse().unwrap());
    settings.dialect = Dialect::Event;
    let shared = Arc::new(store.clone());
    tokio::spawn(server::serve(
        listener,
        shared,
        settings,
        std::future::pending(),
    ));
    (store, address)
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let plan = plan();
    let directory: PathBuf = std::env::temp_dir().join(format!("read-{}", Uuid::new_v4()));
    if plan.events > 0 {
        let (store, address) = serve(&directory.join("large")).await;
        for first in (0..plan.events).step_by(1_000) {
            write(&store, 1_000.min(plan.events - first)).await;
        }
        reads(address, plan.events).await;
    }
    let (store, address) = serve(&directory.join("observed")).await;
    if plan.observers > 0 {
        fan_out(&store, address, &plan).await;
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let before = cpu_time();
    tokio::time::sleep(Duration::from_secs(5)).await;
    println!("idle for five seconds: {:?} of CPU", cpu_time() - before);
    std::fs::remove_dir_all(&directory).unwrap();
}
