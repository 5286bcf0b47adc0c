//! The deployment on several machines, as `ops/several-machines` describes it, works as the how-to says.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use serde_json::{Value, json};
use uuid::Uuid;

use super::deployment::settings_of_the_library;
use crate::support::{
    book, client, compose_file::ComposeFile, eventually, live_query::LiveQuery, machines::Machines,
};

/// Sends a command with one key until it is confirmed, as a client of several instances does. On a very slow
/// machine, an instance may also answer that others were faster.
async fn confirm(service: &str, path: &str, body: &Value) {
    let (key, begun) = (Uuid::new_v4().to_string(), Instant::now());
    loop {
        let request = client().post(format!("{service}{path}"));
        let request = request.header("content-type", "application/json");
        let request = request.header("idempotency-key", &key);
        let problem = match request.body(body.to_string()).send().await {
            Ok(answer) if answer.status().is_success() => return,
            Ok(answer) => {
                let status = answer.status();
                let text = answer.text().await.unwrap_or_default();
                let is_temporary = [502, 503, 504].contains(&status.as_u16())
                    || text.contains("problem:contended");
                assert!(is_temporary, "{path}: {status} {text}");
                format!("{status} {text}")
            }
            Err(error) => error.to_string(),
        };
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{path}: {problem}"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Clients that lend one copy after the other, until they are told to stop.
struct LendingClients {
    service: String,
    rounds: AtomicUsize,
    is_over: AtomicBool,
}

impl LendingClients {
    async fn run(&self) {
        let (service, reader) = (&self.service, Uuid::new_v4());
        let ada = json!({ "id": reader, "name": "Ada" });
        confirm(service, "/readers/register", &ada).await;
        while !self.is_over.load(Ordering::Relaxed) {
            let id = Uuid::new_v4();
            confirm(service, "/books/purchase", &book(id)).await;
            let loan = json!({ "id": id, "reader": reader });
            confirm(service, "/books/borrow", &loan).await;
            confirm(service, "/books/return", &json!({ "id": id })).await;
            self.rounds.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until each client has lent another copy or two.
    async fn continues(&self) {
        let before = self.rounds.load(Ordering::Relaxed);
        eventually("the clients continue", async || {
            (self.rounds.load(Ordering::Relaxed) >= before + 16).then_some(())
        })
        .await;
    }
}

/// Returns a count that the database of a server has.
fn count(machines: &Machines, server: usize, what: &str) -> usize {
    let counted = machines.databases[server]
        .query_database("library", &format!("SELECT count(*) FROM {what}"));
    counted.trim().parse().unwrap()
}

/// Watches a live query while a copy with a title of its own is purchased.
async fn watch_a_purchase(service: &str) {
    let id = Uuid::new_v4();
    let mut copy = book(id);
    copy["title"] = json!(id);
    let mut stock = LiveQuery::open(service, &format!("/books?title={id}")).await;
    assert_eq!(stock.next().await.data["items"], json!([]));
    confirm(service, "/books/purchase", &copy).await;
    let page = stock.next().await.data;
    assert_eq!(page["items"][0]["id"], json!(id));
}

/// Kills the primary and promotes the standby that has received more. The old primary cannot come back.
async fn replace_the_primary(machines: &Machines) -> usize {
    machines.databases[0].signal("-KILL");
    let received = |server: usize| {
        let lsn = "SELECT pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')";
        machines.databases[server]
            .query(lsn)
            .trim()
            .parse::<u64>()
            .unwrap()
    };
    let promoted = if received(1) >= received(2) { 1 } else { 2 };
    machines.databases[promoted].query("SELECT pg_promote()");
    let standbys = "pg_stat_replication WHERE state = 'streaming' AND sync_state = 'quorum'";
    eventually("the other standby follows the new primary", async || {
        (count(machines, promoted, standbys) == 1).then_some(())
    })
    .await;
    let refused = machines.refusal_of_database(0);
    assert!(refused.contains("There is another primary"), "{refused}");
    promoted
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_command_is_lost_or_repeated_in_a_rolling_restart_and_a_failover() {
    let Some(mut machines) = Machines::start() else {
        return;
    };
    for number in 0..2 {
        machines.await_health(number).await;
    }
    let service = machines.url();
    watch_a_purchase(&service).await;
    let clients = LendingClients {
        service: service.clone(),
        rounds: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
    };
    let lending = join_all((0..8).map(|_| clients.run()));
    let operator = async {
        for number in 0..2 {
            clients.continues().await;
            machines.restart_library(number).await;
        }
        clients.continues().await;
        let primary = replace_the_primary(&machines).await;
        clients.continues().await;
        clients.is_over.store(true, Ordering::Relaxed);
        primary
    };
    let (_, primary) = tokio::join!(lending, operator);
    watch_a_purchase(&service).await;

    let rounds = clients.rounds.load(Ordering::Relaxed);
    let events = |name: &str| {
        let subjects = format!(
            "(SELECT DISTINCT subject FROM es_events WHERE type LIKE '%.{name}') AS subjects"
        );
        let events = count(
            &machines,
            primary,
            &format!("es_events WHERE type LIKE '%.{name}'"),
        );
        assert_eq!(count(&machines, primary, &subjects), events, "{name}");
        events
    };
    // Two copies were purchased for the live queries.
    assert_eq!(events("BookPurchasedEvent"), rounds + 2);
    assert_eq!(events("BookBorrowedEvent"), rounds);
    assert_eq!(events("BookReturnedEvent"), rounds);
    assert_eq!(events("ReaderRegisteredEvent"), 8);
}

#[test]
fn the_instances_get_settings_that_exist() {
    let known = settings_of_the_library();
    let file = ComposeFile::read("several-machines/compose.yaml", &[]);
    for name in ["library-1", "library-2"] {
        for setting in file.service(name)["environment"]
            .as_object()
            .unwrap()
            .keys()
        {
            assert!(known.contains(setting), "{setting} is no setting");
        }
    }
}

#[test]
fn the_example_of_the_variables_is_complete_and_without_values() {
    let file = ComposeFile::read("several-machines/compose.yaml", &[]);
    let compose = file.document.to_string();
    let example = std::fs::read_to_string(file.folder.join(".env.example")).unwrap();
    let lines = example
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    let named: Vec<_> = lines.map(|line| line.strip_suffix('=').unwrap()).collect();
    for name in &named {
        assert!(compose.contains(&format!("${{{name}:?")), "{name}");
    }
    for variable in compose.split("${").skip(1) {
        let name = variable.split(":?").next().unwrap();
        assert!(named.contains(&name), "{name}");
    }
}
