//! The library reports an overdue loan once, through kills and restarts.

use std::{collections::BTreeMap, time::Duration};

use crate::support::{Library, book, eventually, new_client, post, start_event_store};
use reqwest::StatusCode;
use serde_json::{Value, json};
use uuid::Uuid;

/// A loan is overdue as soon as it begins.
const AT_ONCE: [(&str, &str); 2] = [("LOAN_DAYS", "0"), ("LOAN_LIMIT", "1000")];
const OVERDUE: &str = "com.example.library.LoanOverdueEvent";
const BORROWED: &str = "com.example.library.BookBorrowedEvent";

/// Reports of each loan, counted by copy and due date.
async fn reports(library: &Library) -> BTreeMap<(String, String), u32> {
    let mut reports = BTreeMap::new();
    for event in library.stored_events().await {
        let payload = |member: &str| {
            let payload: Value = event.payload().unwrap();
            payload[member].as_str().unwrap().to_owned()
        };
        match event.event_type.as_str() {
            BORROWED => {
                reports
                    .entry((payload("id"), payload("dueAt")))
                    .or_insert(0);
            }
            OVERDUE => {
                *reports
                    .get_mut(&(payload("id"), payload("dueAt")))
                    .expect("a loan that was lent before") += 1;
            }
            _ => {}
        }
    }
    reports
}

/// Waits until every loan was reported, and a little longer for second reports.
async fn each_once(library: &Library, at_least: usize) {
    eventually("every loan is reported", async || {
        let reports = reports(library).await;
        (reports.len() >= at_least && reports.values().all(|times| *times > 0)).then_some(())
    })
    .await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let reports = reports(library).await;
    assert!(reports.values().all(|times| *times == 1), "{reports:?}");
}

async fn register(url: &str) -> Uuid {
    let reader = Uuid::new_v4();
    let body = json!({"id": reader, "name": "Ada"});
    let answer = post(&format!("{url}/readers/register"), body.to_string()).await;
    assert_eq!(answer.status(), StatusCode::CREATED);
    reader
}

/// Purchases and borrows copies until the program ends or the number is reached.
async fn borrow(url: &str, reader: Uuid, copies: usize) -> usize {
    let client = new_client().build().unwrap();
    let send = async |path: &str, body: Value| {
        let request = client.post(format!("{url}{path}"));
        let request = request.header("content-type", "application/json");
        request.body(body.to_string()).send().await
    };
    for count in 0..copies {
        let id = Uuid::new_v4();
        if send("/books/purchase", book(id)).await.is_err() {
            return count;
        }
        match send("/books/borrow", json!({"id": id, "reader": reader})).await {
            Ok(answer) => assert_eq!(answer.status(), StatusCode::OK),
            Err(_) => return count,
        }
    }
    copies
}

#[tokio::test]
async fn a_loan_past_its_date_is_reported_and_so_is_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded_with(folder.path(), &AT_ONCE);
    let reader = register(&library.url).await;
    let id = Uuid::new_v4();
    assert_eq!(
        library.purchase(&book(id)).await.status(),
        StatusCode::CREATED
    );
    for loan in 1..=2 {
        let body = json!({"id": id, "reader": reader}).to_string();
        let answer = post(&format!("{}/books/borrow", library.url), body).await;
        assert_eq!(answer.status(), StatusCode::OK);
        each_once(&library, loan).await;
        let body = json!({"id": id}).to_string();
        let answer = post(&format!("{}/books/return", library.url), body).await;
        assert_eq!(answer.status(), StatusCode::OK);
    }
    let (_, health) = library.health().await;
    let reminder = &health["components"]["eventstore"]["details"]["reactions"]["LoanReminder"];
    assert_eq!(reminder["stopped"], false, "{health}");
    // Clients cannot send the command that reports a loan.
    let body = json!({"id": id, "dueAt": "2026-01-01T00:00:00Z"}).to_string();
    let answer = post(&format!("{}/books/report", library.url), body).await;
    assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn a_loan_in_time_is_not_reported() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let reader = register(&library.url).await;
    borrow(&library.url, reader, 1).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let reports = reports(&library).await;
    assert_eq!(reports.into_values().collect::<Vec<_>>(), [0]);
}

#[tokio::test]
async fn each_loan_is_reported_once_when_the_library_is_killed_again_and_again() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..20 {
        let mut library = Library::embedded_with(folder.path(), &AT_ONCE);
        let url = library.url.clone();
        let reader = register(&url).await;
        let killed = async {
            tokio::time::sleep(Duration::from_millis(30 + 23 * round)).await;
            library.process.kill();
        };
        tokio::join!(borrow(&url, reader, usize::MAX), killed);
        let log = library.process.log();
        assert!(!log.contains("panicked"), "{log}");
    }
    let library = Library::embedded_with(folder.path(), &AT_ONCE);
    each_once(&library, 20).await;
}

#[tokio::test]
async fn each_loan_is_reported_once_by_several_instances_of_which_one_dies() {
    let folder = tempfile::tempdir().unwrap();
    let (_store, store_url) = start_event_store(folder.path(), 0);
    // Both have one state database, which the other one takes over.
    let state = folder.path().join("state.sqlite");
    let state = format!("sqlite:{}", state.display());
    let [days, limit] = AT_ONCE;
    let settings = [days, limit, ("STATE_DATABASE_URL", &*state)];
    let mut libraries: Vec<_> = (0..2)
        .map(|_| Library::with_store_and(&store_url, &settings))
        .collect();
    let (first, second) = (libraries[0].url.clone(), libraries[1].url.clone());
    let reader = register(&first).await;
    let other = register(&first).await;
    let killed = async {
        tokio::time::sleep(Duration::from_millis(700)).await;
        libraries[0].process.kill();
    };
    let (_, lent, ()) = tokio::join!(
        borrow(&first, reader, usize::MAX),
        borrow(&second, other, 60),
        killed
    );
    assert_eq!(lent, 60);
    each_once(&libraries[1], 61).await;
}
