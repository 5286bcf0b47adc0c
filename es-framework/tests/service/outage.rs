//! The event store or the database of the read models becomes unreachable and comes back.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use es_framework::{ClientResponse, Settings};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    eventually::eventually,
    postgres_server::PostgresServer,
    running_service::{RunningService, assert_no_panics, book},
    store_server::StoreServer,
};

async fn get(library: &RunningService, path: &str) -> ClientResponse {
    library.client.get(path).await.unwrap()
}

async fn until_healthy(library: &RunningService) {
    eventually("the service is healthy", async || {
        (get(library, "/actuator/health").await.status == 200).then_some(())
    })
    .await;
}

async fn until_in_stock(library: &RunningService, id: Uuid) {
    eventually("the purchase is in the stock", async || {
        let found = get(library, &format!("/books/{id}")).await;
        (found.status == 200).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_service_outlives_its_event_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = StoreServer::start(folder.path(), 0);
    let port = store.port;
    let library = RunningService::start_with_store_at(&store.url(), Settings::default());
    let before = Uuid::new_v4();
    assert_eq!(library.purchase(&book(before)).await.status, 201);
    until_in_stock(&library, before).await;

    drop(store);
    // A command on a connection that breaks only then has an outcome that nobody knows.
    eventually("the loss of the connections is noticed", async || {
        (get(&library, "/actuator/health").await.status == 503).then_some(())
    })
    .await;
    let during = Uuid::new_v4();
    let begin = Instant::now();
    let answer = library.purchase(&book(during)).await;
    assert_eq!(answer.status, 503);
    assert!(
        begin.elapsed() < Duration::from_secs(20),
        "it must not hang"
    );
    let content_type = answer.header("content-type");
    assert_eq!(content_type, Some("application/problem+json"));
    assert!(answer.header("retry-after").is_some());
    let problem: Value = answer.json().unwrap();
    let kind = "tag:es-framework,2026:problem:event-store-unavailable";
    assert_eq!(problem["type"], kind);

    let answer = get(&library, "/actuator/health").await;
    assert_eq!(answer.status, 503);
    let health: Value = answer.json().unwrap();
    assert_eq!(health["status"], "DOWN");
    assert_eq!(health["components"]["eventstore"]["status"], "DOWN");
    assert_eq!(health["components"]["db"]["status"], "UP");
    let stock = get(&library, &format!("/books/{before}")).await;
    assert_eq!(stock.status, 200, "queries need no event store");
    // The service cannot find out if this event exists.
    let client = library.client.clone();
    let client = client.with_header("event-position".parse().unwrap(), "1000");
    let client = client.with_header("prefer".parse().unwrap(), "wait=0");
    let later = client.get("/books").await.unwrap();
    assert_eq!(later.status, 503);
    assert!(later.header("retry-after").is_some());

    let _store = StoreServer::start(folder.path(), port);
    until_healthy(&library).await;
    let answer = library.purchase(&book(during)).await;
    assert_eq!(answer.status, 201);
    assert_eq!(answer.header("event-position"), Some("1"));
    until_in_stock(&library, during).await;
    assert_no_panics();
}

fn copy_files(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

#[tokio::test]
async fn commands_forget_what_the_event_store_has_lost() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let store = StoreServer::start(&first, 0);
    let port = store.port;
    let library = RunningService::start_with_store_at(&store.url(), Settings::default());
    let copy = Uuid::new_v4();
    library.purchase(&book(copy)).await;
    let borrow = async || {
        let path = format!("/books/{copy}/borrow");
        let answer = library.client.post(&path, &json!({ "reader": copy })).await;
        answer.unwrap().status
    };
    drop(store);
    copy_files(&first, &second);
    let store = StoreServer::start(&first, port);
    until_healthy(&library).await;
    assert_eq!(borrow().await, 204);
    assert_eq!(borrow().await, 409);

    // The loan is lost, as if a standby without it had been promoted.
    drop(store);
    let _store = StoreServer::start(&second, port);
    until_healthy(&library).await;
    assert_eq!(borrow().await, 204);
    assert_eq!(borrow().await, 409);
}

#[tokio::test]
async fn queries_say_that_postgresql_is_away() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let url = server.url().parse().unwrap();
    let library = RunningService::start_with(Settings::default().database_url(url));
    eventually("the read models are rebuilt", async || {
        (get(&library, "/books").await.status == 200).then_some(())
    })
    .await;
    drop(server);
    // At first the open connections break. Later no connection can be opened. More queries at once would exceed
    // the share of one caller.
    for _ in 0..3 {
        let queries = (0..3).map(|_| get(&library, "/books"));
        for answer in futures_util::future::join_all(queries).await {
            assert_eq!(answer.status, 503);
            assert!(answer.header("retry-after").is_some());
            let problem: Value = answer.json().unwrap();
            let kind = "tag:es-framework,2026:problem:read-models-unavailable";
            assert_eq!(problem["type"], kind);
        }
    }
    assert_no_panics();
}

#[tokio::test]
async fn a_service_starts_before_its_event_store_and_is_not_ready_until_then() {
    let folder = tempfile::tempdir().unwrap();
    // A port that was free a moment ago.
    let store = StoreServer::start(folder.path(), 0);
    let (port, url) = (store.port, store.url());
    drop(store);
    let library = RunningService::start_with_store_at(&url, Settings::default());
    let readiness = get(&library, "/actuator/health/readiness").await;
    assert_eq!(readiness.status, 503);
    let readiness: Value = readiness.json().unwrap();
    let components = &readiness["components"];
    assert_eq!(components["eventstore"]["status"], "DOWN");
    assert_eq!(components["db"]["status"], "UP");
    let models = &components["readModels"]["details"]["beingRebuilt"];
    assert!(models.to_string().contains("book_copies"), "{readiness}");
    let liveness = get(&library, "/actuator/health/liveness").await;
    assert_eq!(liveness.status, 200, "another start would not help");
    let _store = StoreServer::start(folder.path(), port);
    eventually("the service is ready", async || {
        let readiness = get(&library, "/actuator/health/readiness").await;
        (readiness.status == 200).then_some(())
    })
    .await;
    library.assert_works().await;
}
