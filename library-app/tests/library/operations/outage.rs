//! The event store becomes unreachable and comes back.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use crate::support::{
    Library, book, client, eventually, get, json_of, post, postgres_server::PostgresServer,
    start_event_store,
};
use reqwest::StatusCode;
use serde_json::json;
use uuid::Uuid;

#[tokio::test]
async fn a_library_outlives_its_event_store() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, store_url) = start_event_store(folder.path(), 0);
    let port: u16 = store_url.rsplit(':').next().unwrap().parse().unwrap();
    let library = Library::with_store(&store_url);
    let before = Uuid::new_v4();
    assert_eq!(
        library.purchase(&book(before)).await.status(),
        StatusCode::CREATED
    );

    let is_in_stock = async |id: Uuid| {
        let answer = get(&format!("{}/books/{id}", library.url)).await;
        (answer.status() == StatusCode::OK).then_some(())
    };
    // The read model applies the event shortly after the response.
    eventually("the purchase is in the stock", async || {
        is_in_stock(before).await
    })
    .await;

    store.kill();
    let during = Uuid::new_v4();
    let begin = Instant::now();
    let answer = library.purchase(&book(during)).await;
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(
        begin.elapsed() < Duration::from_secs(20),
        "it must not hang"
    );
    assert_eq!(answer.headers()["content-type"], "application/problem+json");
    assert!(answer.headers().contains_key("retry-after"));
    let problem = json_of(answer).await;
    assert_eq!(
        problem["type"],
        "tag:es-framework,2026:problem:event-store-unavailable"
    );

    let (status, health) = library.health().await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(health["status"], "DOWN");
    assert_eq!(health["components"]["eventstore"]["status"], "DOWN");
    assert_eq!(health["components"]["db"]["status"], "UP");
    let stock = get(&format!("{}/books/{before}", library.url)).await;
    assert_eq!(
        stock.status(),
        StatusCode::OK,
        "queries need no event store"
    );
    // The service cannot find out if this event exists.
    let url = format!("{}/books", library.url);
    let request = client().get(url).header("event-position", "1000");
    let later = request.header("prefer", "wait=0").send().await.unwrap();
    assert_eq!(later.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(later.headers().contains_key("retry-after"));

    let (_store, _) = start_event_store(folder.path(), port);
    let is_up = async || (library.health().await.0 == StatusCode::OK).then_some(());
    eventually("the library is healthy again", is_up).await;
    assert_eq!(
        library.purchase(&book(during)).await.status(),
        StatusCode::CREATED
    );
    assert_eq!(library.stored_events().await.len(), 2);
    eventually("the new purchase is in the stock", async || {
        is_in_stock(during).await
    })
    .await;
    assert!(!library.process.log().contains("panicked"));
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
    let (mut store, store_url) = start_event_store(&first, 0);
    let port: u16 = store_url.rsplit(':').next().unwrap().parse().unwrap();
    let library = Library::with_store(&store_url);
    let is_up = async || (library.health().await.0 == StatusCode::OK).then_some(());
    let (copy, ada, grace) = (Uuid::new_v4(), Uuid::new_v4(), Uuid::new_v4());
    library.purchase(&book(copy)).await;
    for reader in [ada, grace] {
        let person = json!({"id": reader, "name": "A reader"}).to_string();
        let answer = post(&format!("{}/readers/register", library.url), person).await;
        assert_eq!(answer.status(), StatusCode::CREATED);
    }
    let borrow = async |reader: Uuid| {
        let loan = json!({"id": copy, "reader": reader}).to_string();
        let answer = post(&format!("{}/books/borrow", library.url), loan).await;
        answer.status()
    };
    store.kill();
    copy_files(&first, &second);
    let (mut store, _) = start_event_store(&first, port);
    eventually("the library is healthy again", is_up).await;
    assert_eq!(borrow(ada).await, StatusCode::OK);
    assert_eq!(borrow(grace).await, StatusCode::CONFLICT);

    // The loan is lost, as if a standby without it had been promoted.
    store.kill();
    let (_store, _) = start_event_store(&second, port);
    eventually("the library is healthy again", is_up).await;
    assert_eq!(borrow(grace).await, StatusCode::OK);
    assert_eq!(borrow(ada).await, StatusCode::CONFLICT);
    let log = library.process.log();
    assert!(
        log.contains("lacks an event that this process has read"),
        "{log}"
    );
}

#[tokio::test]
async fn queries_say_that_postgresql_is_away() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let url = server.url();
    let library = Library::embedded_with(folder.path(), &[("DATABASE_URL", &url)]);
    let books = format!("{}/books", library.url);
    eventually("the read models are rebuilt", async || {
        (get(&books).await.status() == StatusCode::OK).then_some(())
    })
    .await;
    drop(server);
    // At first the open connections break. Later no connection can be opened. More queries at once would exceed
    // the share of one caller.
    for _ in 0..10 {
        let answers = futures_util::future::join_all((0..3).map(|_| get(&books))).await;
        for answer in answers {
            assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert!(answer.headers().contains_key("retry-after"));
            let problem = json_of(answer).await;
            assert_eq!(
                problem["type"],
                "tag:es-framework,2026:problem:read-models-unavailable"
            );
        }
    }
    assert!(!library.process.log().contains("panicked"));
}

#[tokio::test]
async fn a_library_can_start_before_its_event_store() {
    let folder = tempfile::tempdir().unwrap();
    // A port that was free a moment ago.
    let (store, store_url) = start_event_store(folder.path(), 0);
    let port: u16 = store_url.rsplit(':').next().unwrap().parse().unwrap();
    drop(store);
    let library = Library::with_store(&store_url);
    assert_eq!(library.health().await.0, StatusCode::SERVICE_UNAVAILABLE);
    let (_store, _) = start_event_store(folder.path(), port);
    let is_up = async || (library.health().await.0 == StatusCode::OK).then_some(());
    eventually("the library is healthy", is_up).await;
    assert_eq!(
        library.purchase(&book(Uuid::new_v4())).await.status(),
        StatusCode::CREATED
    );
}
