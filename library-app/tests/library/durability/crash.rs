//! A kill in the middle of requests loses no acknowledged purchase.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use crate::support::{Library, book, client, new_client};
use futures_util::future::join_all;
use uuid::Uuid;

const ROUNDS: u64 = 20;
const CLIENTS: usize = 64;

#[tokio::test]
async fn no_acknowledged_purchase_is_lost_when_the_library_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let acknowledged = Arc::new(Mutex::new(HashSet::new()));
    for round in 0..ROUNDS {
        let mut library = Library::embedded(folder.path());
        let url = format!("{}/books/purchase", library.url);
        let clients = (0..CLIENTS).map(|_| purchase_until_refused(&url, &acknowledged));
        // Each round kills the process at another time after the first commits.
        let killed = async {
            tokio::time::sleep(Duration::from_millis(40 + 17 * round)).await;
            library.process.kill();
        };
        tokio::join!(join_all(clients), killed);
        assert!(
            !library.process.log().contains("panicked"),
            "{}",
            library.process.log()
        );
    }
    let library = Library::embedded(folder.path());
    let stored: HashSet<String> = library
        .stored_events()
        .await
        .iter()
        .map(|event| event.subject.as_str().to_owned())
        .collect();
    let acknowledged = acknowledged.lock().unwrap();
    assert!(
        acknowledged.len() > CLIENTS,
        "the rounds were too short: {}",
        acknowledged.len()
    );
    let lost: Vec<_> = acknowledged.difference(&stored).collect();
    assert!(
        lost.is_empty(),
        "{} of {} are lost: {lost:?}",
        lost.len(),
        acknowledged.len()
    );
}

/// Purchases copies on one connection until the library is gone.
async fn purchase_until_refused(url: &str, acknowledged: &Mutex<HashSet<String>>) {
    let client = new_client().build().unwrap();
    loop {
        let id = Uuid::new_v4();
        let request = client.post(url).header("content-type", "application/json");
        match request.body(book(id).to_string()).send().await {
            Ok(answer) if answer.status() == reqwest::StatusCode::CREATED => {
                acknowledged.lock().unwrap().insert(format!("/books/{id}"));
            }
            Ok(answer) => panic!("unexpected answer: {answer:?}"),
            Err(_) => return,
        }
    }
}

#[tokio::test]
async fn each_restart_keeps_what_was_there_and_goes_on_with_its_chain() {
    let folder = tempfile::tempdir().unwrap();
    for round in 1..=5 {
        let mut library = Library::embedded(folder.path());
        let url = format!("{}/books/purchase", library.url);
        let request = client()
            .post(url)
            .header("content-type", "application/json");
        let answer = request
            .body(book(Uuid::new_v4()).to_string())
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), reqwest::StatusCode::CREATED);
        assert_eq!(library.stored_events().await.len(), round);
        library.process.kill();
    }
}
