//! Instances of the library whose events are in PostgreSQL.

use reqwest::StatusCode;
use uuid::Uuid;

use crate::support::{Library, book, eventually, get, postgres_server::PostgresServer};

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
        let purchased = libraries[round % 2].purchase(&book(id)).await;
        assert_eq!(purchased.status(), StatusCode::CREATED);
        let again = libraries[(round + 1) % 2].purchase(&book(id)).await;
        assert_eq!(again.status(), StatusCode::CONFLICT);
        for library in &libraries {
            eventually("both instances have the copy", async || {
                let answer = get(&format!("{}/books/{id}", library.url)).await;
                (answer.status() == StatusCode::OK).then_some(())
            })
            .await;
        }
    }
}
