//! A caller without a role keeps the service busy with expensive queries. Lookups by key and the readiness probe of
//! other callers must not wait for them.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr},
    time::{Duration, Instant},
};

use reqwest::{Client, ClientBuilder};
use serde_json::Value;
use tokio::task::JoinSet;

use super::{support, titles::Chance};

/// The connections that send expensive queries.
const CONNECTIONS: u8 = 24;
const EXPENSIVE: &str = "/books/catalog?limit=1000&total=true";
const PROBE: &str = "/actuator/health/readiness";
/// The time of one measurement.
const TIME: Duration = Duration::from_secs(20);
/// The rest between two probes, and between two lookups of one client.
const PROBE_REST: Duration = Duration::from_millis(100);
const LOOKUP_REST: Duration = Duration::from_millis(10);
/// The clients that look up copies.
const READERS: u8 = 4;

/// The responses of one kind of request.
#[derive(Default)]
struct Responses {
    statuses: BTreeMap<u16, usize>,
    /// The milliseconds of each response with the status `200`.
    times: Vec<f64>,
}

impl Responses {
    fn add(&mut self, other: Self) {
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        self.times.extend(other.times);
    }

    fn print(mut self, load: &str, what: &str) {
        self.times.sort_by(f64::total_cmp);
        let last = self.times.len().saturating_sub(1);
        let at = |percent: usize| self.times.get(last * percent / 100).copied();
        let time = |percent| at(percent).map_or("–".into(), |time| format!("{time:.1}"));
        let statuses = self.statuses.iter();
        let statuses: Vec<_> = statuses
            .map(|(status, count)| format!("{count} × {status}"))
            .collect();
        println!(
            "| {load} | {what} | {} | {} | {} | {} |",
            statuses.join(", "),
            time(50),
            time(99),
            time(100)
        );
    }
}

/// Measures without load, with the load of one caller, and with that of as many callers as connections.
pub(crate) async fn run(url: &str) {
    let ids = ids(url).await;
    println!("| load | request | responses | median ms | 99th percentile ms | longest ms |");
    println!("|---|---|---|---|---|---|");
    measure(url, &ids, "none", |_| None).await;
    measure(url, &ids, "one caller", |_| Some(2)).await;
    measure(url, &ids, "24 callers", |number| Some(2 + number)).await;
}

/// A client with an address of its own, by which the service knows a caller.
fn client(number: u8) -> ClientBuilder {
    let address = Ipv4Addr::new(127, 0, 1, number);
    support::new_client().local_address(IpAddr::V4(address))
}

async fn ids(url: &str) -> Vec<String> {
    let page = client(1).build().unwrap();
    let page = page.get(format!("{url}/books?limit=1000")).send().await;
    let page = page.unwrap().bytes().await.unwrap();
    let page: Value = serde_json::from_slice(&page).unwrap();
    let items = page["items"].as_array().unwrap().iter();
    items
        .map(|item| item["id"].as_str().unwrap().to_owned())
        .collect()
}

async fn measure(url: &str, ids: &[String], load: &str, caller: impl Fn(u8) -> Option<u8>) {
    let end = Instant::now() + TIME;
    let mut flood = JoinSet::new();
    for address in (0..CONNECTIONS).filter_map(caller) {
        let client = client(address).build().unwrap();
        let url = format!("{url}{EXPENSIVE}");
        flood.spawn(repeat(client, end, Duration::ZERO, move || url.clone()));
    }
    let mut lookups = JoinSet::new();
    for number in 0..READERS {
        let (url, ids) = (url.to_owned(), ids.to_owned());
        let mut chance = Chance::new();
        let client = client(100 + number).build().unwrap();
        lookups.spawn(repeat(client, end, LOOKUP_REST, move || {
            format!("{url}/books/{}", ids[chance.below(ids.len())])
        }));
    }
    let probe = format!("{url}{PROBE}");
    let probes = client(200).build().unwrap();
    let probes = tokio::spawn(repeat(probes, end, PROBE_REST, move || probe.clone()));
    sum(lookups).await.print(load, "`GET /books/{id}`");
    probes.await.unwrap().print(load, "readiness probe");
    sum(flood).await.print(load, "the load itself");
}

async fn sum(mut clients: JoinSet<Responses>) -> Responses {
    let mut sum = Responses::default();
    while let Some(responses) = clients.join_next().await {
        sum.add(responses.unwrap());
    }
    sum
}

/// Sends one request after the other.
async fn repeat(
    client: Client,
    end: Instant,
    rest: Duration,
    mut url: impl FnMut() -> String,
) -> Responses {
    let mut responses = Responses::default();
    while Instant::now() < end {
        tokio::time::sleep(rest).await;
        let begin = Instant::now();
        let response = client.get(url()).send().await.unwrap();
        let status = response.status();
        response.bytes().await.unwrap();
        *responses.statuses.entry(status.as_u16()).or_default() += 1;
        if status.is_success() {
            let time = begin.elapsed().as_secs_f64() * 1e3;
            responses.times.push(time);
        }
    }
    responses
}
