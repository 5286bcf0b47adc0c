//! A million purchases: memory must stay flat, and the store must open fast afterwards.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use es_framework::store::sqlite::EmbeddedStore;
use uuid::Uuid;

use super::{Server, load::Connection};

const PURCHASES: u64 = 1_000_000;
const CONNECTIONS: usize = 128;
const STEPS: u64 = 10;

pub(crate) fn run(folder: &Path) {
    let data = folder.join("million");
    let server = Server::with_store(&mut super::library(), &data);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    println!("purchases | resident MiB | of it read models | the rest | purchases/s");
    for step in 1..=STEPS {
        let begin = Instant::now();
        runtime.block_on(purchase(&server.address, PURCHASES / STEPS));
        let rate = (PURCHASES / STEPS) as f64 / begin.elapsed().as_secs_f64();
        let (resident, models) = (resident_mib(server.child.id()), models_mib(&server.address));
        println!(
            "{:>9} | {resident:>12} | {models:>17} | {:>8} | {rate:>11.0}",
            step * PURCHASES / STEPS,
            resident.saturating_sub(models),
        );
    }
    drop(server);
    for state in ["after a kill", "after a clean end"] {
        let begin = Instant::now();
        let store = EmbeddedStore::open(&data).unwrap();
        println!(
            "opening {PURCHASES} events {state}: {:.1} ms",
            begin.elapsed().as_secs_f64() * 1e3
        );
        runtime.block_on(store.close());
    }
}

async fn purchase(address: &str, count: u64) {
    let done = Arc::new(AtomicU64::new(0));
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (address, done) = (address.to_owned(), Arc::clone(&done));
        clients.spawn(async move {
            let mut connection = Connection::open(&address).await;
            while done.fetch_add(1, Ordering::Relaxed) < count {
                connection.purchase(Uuid::new_v4()).await;
            }
        });
    }
    clients.join_all().await;
}

fn resident_mib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: u64 = line
        .and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0);
    kib / 1024
}

/// What the health report says of the read models, which hold every book and so grow with them.
fn models_mib(address: &str) -> u64 {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = "GET /actuator/health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let health: serde_json::Value = serde_json::from_str(body).unwrap();
    let details = &health["components"]["db"]["details"];
    details["sizeInBytes"].as_u64().unwrap_or(0) >> 20
}
