//! Operators try a command, now and in the past, and nothing is written.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::running_service::{RunningService, TOKEN, book};

const COPY: Uuid = Uuid::from_u128(1);

/// Tries a command as an operator, and returns the status and the result.
async fn try_command(
    library: &RunningService,
    command: &str,
    query: &str,
    body: &Value,
) -> (u16, Value) {
    let path = format!("/actuator/commands/{command}/dry-run{query}");
    let client = library.client.clone().with_bearer(TOKEN);
    let answer = client.post(&path, body).await.unwrap();
    (answer.status, answer.json().unwrap())
}

async fn try_borrow(library: &RunningService, query: &str) -> (u16, Value) {
    let body = json!({ "id": COPY, "reader": Uuid::from_u128(100) });
    try_command(library, "BorrowBookCommand", query, &body).await
}

/// The status of the problem that a client would get.
fn rejection(run: &(u16, Value)) -> u64 {
    let (status, result) = run;
    assert_eq!(*status, 200, "{result}");
    assert_eq!(result["accepted"], false);
    assert_eq!(result["events"], json!([]));
    result["problem"]["status"].as_u64().unwrap()
}

async fn events_of_books(library: &RunningService) -> usize {
    let stored = library.stored_events().await.into_iter();
    let of_books = stored.filter(|event| event.subject.as_str().starts_with("/books/"));
    of_books.count()
}

#[tokio::test]
async fn a_command_is_tried_now_and_in_the_past_and_nothing_is_written() {
    let library = RunningService::start();
    let nothing = try_borrow(&library, "").await;
    assert_eq!(rejection(&nothing), 404);
    assert_eq!(nothing.1["at"], Value::Null);

    library.purchase(&book(Uuid::new_v4())).await;
    library.purchase(&book(COPY)).await;
    // Before the copy was purchased, and after.
    assert_eq!(rejection(&try_borrow(&library, "?at=0").await), 404);
    let (status, accepted) = try_borrow(&library, "").await;
    assert_eq!(status, 200);
    assert_eq!(accepted["accepted"], true);
    assert_eq!(accepted["at"], "1");
    assert_eq!(accepted["subject"], format!("/books/{COPY}"));
    let events = accepted["events"].as_array().unwrap();
    assert_eq!(events.len(), 1);
    let expected = "com.example.library.BookBorrowedEvent";
    assert_eq!(events[0]["type"], expected);
    let reader = &events[0]["data"]["payload"]["reader"];
    assert_eq!(reader, &json!(Uuid::from_u128(100)));
    assert_eq!(events_of_books(&library).await, 2);

    // The real command can follow, and then the copy is lent; in the past, it still is not.
    let borrow = format!("/books/{COPY}/borrow");
    let reader = json!({ "reader": COPY });
    let borrowed = library.client.post(&borrow, &reader).await.unwrap();
    assert_eq!(borrowed.status, 204);
    let lent = try_borrow(&library, "").await;
    assert_eq!(rejection(&lent), 409);
    let kind = lent.1["problem"]["type"].as_str().unwrap();
    assert!(kind.ends_with("copy-lent"), "{kind}");
    assert_eq!(try_borrow(&library, "?at=1").await.1["accepted"], true);
    assert_eq!(events_of_books(&library).await, 3);
}

#[tokio::test]
async fn a_dry_run_needs_the_operator_a_command_and_an_event() {
    let library = RunningService::start();
    let body = json!({ "id": COPY, "reader": COPY });
    let path = "/actuator/commands/BorrowBookCommand/dry-run";
    let anonymous = library.client.post(path, &body).await.unwrap();
    assert_eq!(anonymous.status, 401);
    let wrong = library.client.clone().with_bearer("staff");
    assert_eq!(wrong.post(path, &body).await.unwrap().status, 401);

    let (status, problem) = try_command(&library, "LendBookCommand", "", &body).await;
    assert_eq!(status, 404);
    assert_eq!(
        problem["detail"],
        "the application has no command LendBookCommand"
    );
    for query in ["?at=0", "?at=x", "?at=-1", "?at=0&at=0", "?when=0"] {
        let (status, problem) = try_command(&library, "BorrowBookCommand", query, &body).await;
        assert_eq!(status, 400, "{query}: {problem}");
    }
    let invalid = json!({ "id": COPY });
    let invalid = try_command(&library, "BorrowBookCommand", "", &invalid).await;
    assert_eq!(rejection(&invalid), 422);
    assert_eq!(invalid.1["problem"]["errors"][0]["pointer"], "/reader");
    // An internal command has no route, but it can be tried.
    let report = json!({ "id": COPY });
    let report = try_command(&library, "ReportLoanCommand", "", &report).await;
    assert_eq!(report.1["accepted"], true);
    assert!(library.stored_events().await.is_empty());
}
