//! An event that somebody moves to another subject in the database of the library.

use std::process::Command;

use reqwest::StatusCode;
use rusqlite::Connection;
use serde_json::json;
use uuid::Uuid;

use crate::support::{
    Library, book, event_store_program, json_of, post, postgres_server::PostgresServer,
};

const ELSEWHERE: &str = "/books/00000000-0000-4000-8000-000000000000";

async fn borrow(library: &Library, copy: Uuid, reader: Uuid) -> StatusCode {
    let body = json!({"id": copy, "reader": reader}).to_string();
    let url = format!("{}/books/borrow", library.url);
    post(&url, body).await.status()
}

async fn register(library: &Library) -> Uuid {
    let reader = Uuid::new_v4();
    let url = format!("{}/readers/register", library.url);
    let ada = json!({"id": reader, "name": "Ada"}).to_string();
    assert_eq!(post(&url, ada).await.status(), StatusCode::CREATED);
    reader
}

/// Runs `event-store verify`. Returns its exit code and its text.
fn verify(arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(event_store_program());
    let output = command.arg("verify").args(arguments).output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

/// Lends a copy, moves the event of it elsewhere while the library is stopped, and asserts that no start lends the copy
/// again, until the event is back and the log is verified.
async fn assert_not_lent_twice(
    start: impl Fn() -> Library,
    execute: impl Fn(&str),
    events: &str,
    store: &[&str],
) {
    let library = start();
    let [owner, rival] = [register(&library).await, register(&library).await];
    let [copy, other] = [Uuid::new_v4(), Uuid::new_v4()];
    for id in [copy, other] {
        let purchased = library.purchase(&book(id)).await;
        assert_eq!(purchased.status(), StatusCode::CREATED);
    }
    assert!(borrow(&library, copy, owner).await.is_success());
    drop(library);
    let lent = format!("subject = '/books/{copy}' AND type LIKE '%.BookBorrowedEvent'");
    execute(&format!(
        "UPDATE {events} SET subject = '{ELSEWHERE}' WHERE {lent}"
    ));
    for _ in 0..2 {
        let library = start();
        let (status, health) = library.health().await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        let health = health.to_string();
        assert!(health.contains("closed for writing"), "{health}");
        assert!(borrow(&library, copy, rival).await.is_server_error());
        let refused = borrow(&library, other, rival).await;
        assert_eq!(refused, StatusCode::SERVICE_UNAVAILABLE);
    }
    let (code, text) = verify(store);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("is damaged: it was"), "{text}");
    execute(&format!(
        "UPDATE {events} SET subject = '/books/{copy}' WHERE subject = '{ELSEWHERE}'"
    ));
    // The log stays closed until it is verified.
    let library = start();
    let refused = borrow(&library, other, rival).await;
    assert_eq!(refused, StatusCode::SERVICE_UNAVAILABLE);
    drop(library);
    let (code, text) = verify(store);
    assert_eq!(code, Some(0), "{text}");
    let library = start();
    let lent = post(
        &format!("{}/books/borrow", library.url),
        json!({"id": copy, "reader": rival}).to_string(),
    )
    .await;
    assert_eq!(
        lent.status(),
        StatusCode::CONFLICT,
        "{}",
        json_of(lent).await
    );
    assert!(borrow(&library, other, rival).await.is_success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lent_copy_whose_event_is_damaged_in_postgresql_is_not_lent_again() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let url = server.url();
    assert_not_lent_twice(
        || Library::with_store(&url),
        |statement| {
            server.query(statement);
        },
        "es_events",
        &["--engine", &url],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lent_copy_whose_event_is_damaged_in_the_embedded_store_is_not_lent_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.sqlite");
    assert_not_lent_twice(
        || Library::embedded(folder.path()),
        |statement| {
            let connection = Connection::open(&file).unwrap();
            connection.execute_batch(statement).unwrap();
        },
        "events",
        &["--data-directory", folder.path().to_str().unwrap()],
    )
    .await;
}
