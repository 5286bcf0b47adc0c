//! A million purchases: memory must stay flat, and the store must open fast afterwards.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use es_framework::store::sql::EmbeddedStore;

use super::{Server, load::Connection};

const PURCHASES: u64 = 1_000_000;
const CONNECTIONS: usize = 128;
const STEPS: u64 = 10;

pub(crate) fn run(folder: &Path) {
    let data = folder.join("million");
    let server = Server::library(&data);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    println!("purchases | resident MiB | purchases/s");
    for step in 1..=STEPS {
        let begin = Instant::now();
        runtime.block_on(purchase(&server.address, PURCHASES / STEPS));
        let rate = (PURCHASES / STEPS) as f64 / begin.elapsed().as_secs_f64();
        println!(
            "{:>9} | {:>12} | {rate:>11.0}",
            step * PURCHASES / STEPS,
            resident_mib(server.child.id())
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
                connection.purchase().await;
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
