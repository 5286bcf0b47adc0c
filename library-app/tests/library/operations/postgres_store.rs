//! Instances of the library whose events are in PostgreSQL.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use reqwest::{Response, StatusCode, header::HeaderValue};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{
    Library, book, client, eventually, get, json_of, post, postgres_server::PostgresServer,
};

/// The number of rounds of a test. The long form sets `POSTGRES_ROUNDS`.
fn rounds(short: usize) -> usize {
    let long = std::env::var("POSTGRES_ROUNDS").ok();
    long.map_or(short, |rounds| rounds.parse().unwrap())
}

async fn send_with_key(library: &Library, path: &str, body: &Value, key: &str) -> Response {
    let request = client().post(format!("{}{path}", library.url));
    let request = request.header("content-type", "application/json");
    let request = request.header("idempotency-key", key);
    request.body(body.to_string()).send().await.unwrap()
}

/// Queries a copy once the rows have reached the position of an answer.
async fn query_at(library: &Library, id: Uuid, position: &HeaderValue) -> StatusCode {
    let query = client().get(format!("{}/books/{id}", library.url));
    let query = query.header("event-position", position.clone());
    query.send().await.unwrap().status()
}

#[tokio::test]
async fn instances_share_their_events_in_postgresql() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let libraries = [
        Library::with_store(&server.url()),
        Library::with_store(&server.url()),
    ];
    let (status, health) = libraries[0].health().await;
    assert_eq!(status, StatusCode::OK, "{health}");
    let store = health["components"]["eventstore"]["details"]["store"].as_str();
    assert!(
        store.unwrap().starts_with("PostgreSQL database"),
        "{health}"
    );

    for round in 0..10 {
        let id = Uuid::new_v4();
        let (one, other) = (&libraries[round % 2], &libraries[(round + 1) % 2]);
        let purchased = one.purchase(&book(id)).await;
        assert_eq!(purchased.status(), StatusCode::CREATED);
        let again = other.purchase(&book(id)).await;
        assert_eq!(again.status(), StatusCode::CONFLICT);
        for library in &libraries {
            eventually("both instances have the copy", async || {
                let answer = get(&format!("{}/books/{id}", library.url)).await;
                (answer.status() == StatusCode::OK).then_some(())
            })
            .await;
        }
        // A command that is repeated on the other instance gets the answer of the first.
        let (body, key) = (book(Uuid::new_v4()), format!("purchase-{round}"));
        let first = send_with_key(one, "/books/purchase", &body, &key).await;
        assert_eq!(first.status(), StatusCode::CREATED);
        let repeated = send_with_key(other, "/books/purchase", &body, &key).await;
        assert_eq!(repeated.status(), StatusCode::CREATED);
        let position = "event-position";
        assert_eq!(first.headers()[position], repeated.headers()[position]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_instance_shows_the_events_of_the_other_at_the_position_of_the_answer() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let libraries = [
        Library::with_store(&server.url()),
        Library::with_store(&server.url()),
    ];
    let clients = (0..20).map(|number: usize| {
        let (one, other) = (&libraries[number % 2], &libraries[(number + 1) % 2]);
        async move {
            for _ in 0..rounds(200) / 20 {
                let id = Uuid::new_v4();
                let purchased = one.purchase(&book(id)).await;
                assert_eq!(purchased.status(), StatusCode::CREATED);
                let position = &purchased.headers()["event-position"];
                assert_eq!(query_at(other, id, position).await, StatusCode::OK);
            }
        }
    });
    join_all(clients).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_loan_limit_holds_over_two_instances_on_postgresql() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let libraries = [
        Library::with_store(&server.url()),
        Library::with_store(&server.url()),
    ];
    for round in 0..rounds(10) {
        let reader = Uuid::new_v4();
        let url = format!("{}/readers/register", libraries[0].url);
        let registered = post(&url, json!({"id": reader, "name": "Ada"}).to_string()).await;
        assert_eq!(registered.status(), StatusCode::CREATED);
        let copies: Vec<_> = (0..16).map(|_| Uuid::new_v4()).collect();
        let purchases = copies
            .iter()
            .map(|id| async { libraries[1].purchase(&book(*id)).await });
        join_all(purchases).await;
        let borrows = copies.iter().enumerate().map(|(number, id)| {
            let url = format!("{}/books/borrow", libraries[number % 2].url);
            let body = json!({"id": id, "reader": reader}).to_string();
            async move { post(&url, body).await }
        });
        let mut lent = 0;
        for answer in join_all(borrows).await {
            let status = answer.status();
            if status == StatusCode::OK {
                lent += 1;
                continue;
            }
            let problem = json_of(answer).await["type"].to_string();
            let is_refusal =
                problem.contains("loan-limit-reached") || problem.contains("contended");
            assert!(status == StatusCode::CONFLICT && is_refusal, "{problem}");
        }
        assert!((1..=5).contains(&lent), "round {round}: {lent}");
    }
}

/// Sends a command until it succeeds. Each refusal says when to send it again.
async fn insist(library: &Library, body: &Value, key: &str) {
    let begun = Instant::now();
    loop {
        let answer = send_with_key(library, "/books/purchase", body, key).await;
        match answer.status() {
            StatusCode::CREATED => return,
            status => {
                let has_pause = answer.headers().contains_key("retry-after");
                let text = answer.text().await.unwrap();
                assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{text}");
                assert!(has_pause, "{text}");
            }
        }
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
    let rows = [("DATABASE_URL", url.as_str())];
    let libraries = [(); 2].map(|()| Library::with_store_and(&url, &rows));
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let (library, over) = (&libraries, &is_over);
    let clients = join_all((0..16).map(|number: usize| async move {
        let mut purchased = 0;
        while !over.load(std::sync::atomic::Ordering::Relaxed) {
            let key = format!("{number}-{purchased}");
            insist(&library[number % 2], &book(Uuid::new_v4()), &key).await;
            purchased += 1;
        }
        purchased
    }));
    let failover = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        primary.signal(signal);
        standby.query("SELECT pg_promote()");
        insist(&libraries[0], &book(Uuid::new_v4()), "after").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        over.store(true, std::sync::atomic::Ordering::Relaxed);
    };
    let (purchased, ()) = tokio::join!(clients, failover);
    let purchased: usize = purchased.into_iter().sum::<usize>() + 1;
    let stored = "SELECT count(*) FROM es_events WHERE type LIKE '%BookPurchased%'";
    assert_eq!(standby.query(stored).trim(), purchased.to_string());
    for library in &libraries {
        eventually("the rows are those of all purchases", async || {
            let page = get(&format!("{}/books?limit=1&total=true", library.url)).await;
            let is_found = page.status() == StatusCode::OK;
            (is_found && json_of(page).await["total"] == purchased).then_some(())
        })
        .await;
    }
    let id = Uuid::new_v4();
    let last = libraries[0].purchase(&book(id)).await;
    let position = &last.headers()["event-position"];
    for library in &libraries {
        eventually("queries reach the position of a command", async || {
            (query_at(library, id, position).await == StatusCode::OK).then_some(())
        })
        .await;
    }
}
