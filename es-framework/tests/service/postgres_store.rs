//! Instances of a service whose events are in PostgreSQL.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use es_framework::{ClientResponse, Settings, axum::http::HeaderName};
use futures_util::future::join_all;
use serde_json::Value;
use uuid::Uuid;

use crate::{
    eventually::eventually,
    postgres_server::PostgresServer,
    running_service::{RunningService, book},
};

/// The number of purchases. The long form sets `POSTGRES_ROUNDS`.
fn rounds() -> usize {
    let long = std::env::var("POSTGRES_ROUNDS").ok();
    long.map_or(200, |rounds| rounds.parse().unwrap())
}

fn start_two(server: &PostgresServer) -> [RunningService; 2] {
    let start = |()| RunningService::start_with_store_at(&server.url(), Settings::default());
    [(); 2].map(start)
}

async fn purchase_with_key(library: &RunningService, body: &Value, key: &str) -> ClientResponse {
    let header = HeaderName::from_static("idempotency-key");
    let client = library.client.clone().with_header(header, key);
    client.post("/books/purchase", body).await.unwrap()
}

async fn query(library: &RunningService, id: Uuid) -> u16 {
    let path = format!("/books/{id}");
    library.client.get(&path).await.unwrap().status
}

/// Queries a copy once the rows have reached the position of an answer.
async fn query_at(library: &RunningService, id: Uuid, answer: &ClientResponse) -> u16 {
    let header = HeaderName::from_static("event-position");
    let position = answer.header("event-position").unwrap();
    let client = library.client.clone().with_header(header, position);
    client.get(&format!("/books/{id}")).await.unwrap().status
}

#[tokio::test]
async fn instances_share_their_events_in_postgresql() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let libraries = start_two(&server);
    let health = libraries[0].client.get("/actuator/health").await.unwrap();
    assert_eq!(health.status, 200, "{}", health.text());
    let health: Value = health.json().unwrap();
    let store = health["components"]["eventstore"]["details"]["store"].as_str();
    assert!(
        store.unwrap().starts_with("PostgreSQL database"),
        "{health}"
    );

    for round in 0..10 {
        let id = Uuid::new_v4();
        let (one, other) = (&libraries[round % 2], &libraries[(round + 1) % 2]);
        let purchased = one.purchase(&book(id)).await;
        assert_eq!(purchased.status, 201);
        let again = other.purchase(&book(id)).await;
        assert_eq!(again.status, 409);
        for library in &libraries {
            eventually("both instances have the copy", async || {
                (query(library, id).await == 200).then_some(())
            })
            .await;
        }
        // A command that is repeated on the other instance gets the answer of the first.
        let (body, key) = (book(Uuid::new_v4()), format!("purchase-{round}"));
        let first = purchase_with_key(one, &body, &key).await;
        assert_eq!(first.status, 201);
        let repeated = purchase_with_key(other, &body, &key).await;
        assert_eq!(repeated.status, 201);
        let position = "event-position";
        assert_eq!(first.header(position), repeated.header(position));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_instance_shows_the_events_of_the_other_at_the_position_of_the_answer() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let libraries = start_two(&server);
    let clients = (0..20).map(|number: usize| {
        let (one, other) = (&libraries[number % 2], &libraries[(number + 1) % 2]);
        async move {
            for _ in 0..rounds() / 20 {
                let id = Uuid::new_v4();
                let purchased = one.purchase(&book(id)).await;
                assert_eq!(purchased.status, 201);
                assert_eq!(query_at(other, id, &purchased).await, 200);
            }
        }
    });
    join_all(clients).await;
}

/// Sends a command until it succeeds. Each refusal says when to send it again.
async fn insist(library: &RunningService, key: &str) {
    let (body, begun) = (book(Uuid::new_v4()), Instant::now());
    loop {
        let answer = purchase_with_key(library, &body, key).await;
        if answer.status == 201 {
            return;
        }
        assert_eq!(answer.status, 503, "{}", answer.text());
        assert!(answer.header("retry-after").is_some());
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "it never succeeds"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_command_is_lost_or_carried_out_twice_after_the_primary_ends() {
    fail_over("-KILL").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_command_is_lost_or_carried_out_twice_after_the_primary_hangs() {
    fail_over("-STOP").await;
}

/// Sends the signal to the primary of events and rows while clients purchase, and promotes the standby.
async fn fail_over(signal: &str) {
    let Some(primary) = PostgresServer::start() else {
        return;
    };
    let standby = primary.start_standby();
    primary.set("synchronous_standby_names", "ANY 1 (*)");
    let url = format!(
        "postgres://postgres@{},{}/postgres",
        primary.host(),
        standby.host()
    );
    let settings = || Settings::default().database_url(url.parse().unwrap());
    let libraries = [(); 2].map(|()| RunningService::start_with_store_at(&url, settings()));
    let is_over = AtomicBool::new(false);
    let (library, over) = (&libraries, &is_over);
    let clients = join_all((0..16).map(|number: usize| async move {
        let mut purchased = 0;
        while !over.load(Ordering::Relaxed) {
            let key = format!("{number}-{purchased}");
            insist(&library[number % 2], &key).await;
            purchased += 1;
        }
        purchased
    }));
    let failover = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        primary.signal(signal);
        standby.query("SELECT pg_promote()");
        insist(&libraries[0], "after").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        over.store(true, Ordering::Relaxed);
    };
    let (purchased, ()) = tokio::join!(clients, failover);
    let purchased: usize = purchased.into_iter().sum::<usize>() + 1;
    let stored = "SELECT count(*) FROM es_events WHERE type LIKE '%BookPurchased%'";
    assert_eq!(standby.query(stored).trim(), purchased.to_string());
    for library in &libraries {
        eventually("the rows are those of all purchases", async || {
            let page = library.client.get("/books?limit=1&total=true").await;
            let page = page.unwrap().json::<Value>().unwrap();
            (page["total"] == purchased).then_some(())
        })
        .await;
    }
    let id = Uuid::new_v4();
    let last = libraries[0].purchase(&book(id)).await;
    for library in &libraries {
        eventually("queries reach the position of a command", async || {
            (query_at(library, id, &last).await == 200).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_a_free_connection_is_away_for_a_moment() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    server.query("CREATE ROLE app LOGIN; GRANT ALL ON SCHEMA public TO app");
    let url = server.url().replace("postgres@", "app@");
    let settings = Settings::default().database_url(url.parse().unwrap());
    let library = RunningService::start_with_store_at(&url, settings);
    let copy = Uuid::new_v4();
    let purchased = library.purchase(&book(copy)).await;
    assert_eq!(query_at(&library, copy, &purchased).await, 200);
    // The server refuses each new connection of the role: 53300, too many connections.
    server.query(
        "ALTER ROLE app CONNECTION LIMIT 0; \
         SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'",
    );
    let answers = [
        library.client.get(&format!("/books/{copy}")).await.unwrap(),
        library.purchase(&book(Uuid::new_v4())).await,
    ];
    for answer in answers {
        assert_eq!(answer.status, 503, "{}", answer.text());
        assert!(answer.header("retry-after").is_some());
    }
    server.query("ALTER ROLE app CONNECTION LIMIT -1");
    eventually("the connections are back", async || {
        (query(&library, copy).await == 200).then_some(())
    })
    .await;
}
