//! What it costs that read models and a reaction follow the purchases, and how far they are behind:
//! the command alone beside the whole library, and then the time from the answer to a purchase until
//! a query answers that has to see it, while others purchase at a steady pace.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use tokio::task::JoinSet;
use uuid::Uuid;

use super::{
    Server, Settings,
    load::{self, Connection, LoadResult},
};

#[path = "../../src/book/purchase.rs"]
mod purchase;

/// How many purchases a second the read models have to follow.
const PACE: u32 = 10_000;
/// How many connections purchase at that pace.
const PACED: u32 = 64;
/// How many connections ask for what they purchased, and how long each rests in between.
const READERS: usize = 4;
const REST: Duration = Duration::from_millis(10);
/// What tells this program to be the service that nothing follows.
const ALONE: &str = "PURCHASE_ALONE";

/// Whether this process is to be that service.
pub(super) fn is_alone() -> bool {
    std::env::var_os(ALONE).is_some()
}

/// The purchase as the library has it, without the library's read models and reactions.
pub(super) fn serve_alone() {
    es_framework::App::new("library-service").run().unwrap();
}

pub(super) fn run(settings: &Settings, folder: &Path) {
    let (mut alone, mut followed) = (Vec::new(), Vec::new());
    let time = Duration::from_secs_f64(settings.seconds);
    for round in 0..settings.rounds {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env(ALONE, "");
        let pairs = [(command, &mut alone), (super::library(), &mut followed)];
        for (number, (mut command, measured)) in pairs.into_iter().enumerate() {
            let data = folder.join(format!("{round}-{number}"));
            let server = Server::with_store(&mut command, &data);
            measured.push(load::run(&server.address, settings.connections, time));
            drop(server);
            std::fs::remove_dir_all(data).unwrap();
        }
    }
    let (alone, followed) = (LoadResult::median(alone), LoadResult::median(followed));
    println!(
        "the command alone {:.0} purchases/s, followed {:.0}/s: {:.2} (≥ 0.85)",
        alone.rate,
        followed.rate,
        followed.rate / alone.rate
    );
    let server = Server::with_store(&mut super::library(), &folder.join("paced"));
    let (rate, lag) = lag(&server.address, time);
    println!(
        "at {rate:.0} purchases/s a query sees its purchase after {:.2} ms in the median, {:.2} ms at the 99th percentile (≤ 100), {:.0} queries/s",
        lag.median_ms, lag.p99_ms, lag.rate
    );
}

/// The purchases a second, and how long the queries took.
fn lag(address: &str, time: Duration) -> (f64, LoadResult) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (purchases, queries) = runtime.block_on(async {
        let end = Instant::now() + time;
        let mut paced = JoinSet::new();
        for _ in 0..PACED {
            paced.spawn(purchase_at_pace(address.to_owned(), end));
        }
        let mut readers = JoinSet::new();
        for _ in 0..READERS {
            readers.spawn(purchase_and_ask(address.to_owned(), end));
        }
        let purchases: usize = paced.join_all().await.iter().sum();
        (purchases, readers.join_all().await.concat())
    });
    let rate = (purchases + queries.len()) as f64 / time.as_secs_f64();
    (rate, LoadResult::of(queries, time))
}

async fn purchase_at_pace(address: String, end: Instant) -> usize {
    let mut connection = Connection::open(&address).await;
    // A late purchase is followed by the next one at once.
    let mut pace = tokio::time::interval(Duration::from_secs(1) * PACED / PACE);
    let mut purchases = 0;
    while Instant::now() < end {
        pace.tick().await;
        connection.purchase(Uuid::new_v4()).await;
        purchases += 1;
    }
    purchases
}

async fn purchase_and_ask(address: String, end: Instant) -> Vec<(Instant, Duration)> {
    let mut connection = Connection::open(&address).await;
    let mut queries = Vec::new();
    while Instant::now() < end {
        tokio::time::sleep(REST).await;
        let id = Uuid::new_v4();
        connection.purchase(id).await;
        let answered = Instant::now();
        connection.find(id).await;
        let found = Instant::now();
        queries.push((found, found.duration_since(answered)));
    }
    queries
}
