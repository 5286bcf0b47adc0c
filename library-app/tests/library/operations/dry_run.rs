//! Operators try a command as some caller.

use crate::support::{Library, TOKEN, book, client, json_of, post};
use reqwest::StatusCode;
use serde_json::{Value, json};
use uuid::Uuid;

const COPY: Uuid = Uuid::from_u128(1);
const READER: Uuid = Uuid::from_u128(100);

async fn try_borrow(library: &Library, query: &str) -> (StatusCode, Value) {
    let path = format!("/actuator/commands/BorrowBookCommand/dry-run{query}");
    let request = client().post(format!("{}{path}", library.url));
    let request = request.header("content-type", "application/json");
    let body = json!({ "id": COPY, "reader": READER }).to_string();
    let answer = request.bearer_auth(TOKEN).body(body).send().await.unwrap();
    (answer.status(), json_of(answer).await)
}

/// The status of the problem that a client would get.
fn rejection(run: &(StatusCode, Value)) -> u64 {
    let (status, result) = run;
    assert_eq!(*status, StatusCode::OK, "{result}");
    assert_eq!(result["accepted"], false);
    assert_eq!(result["events"], json!([]));
    result["problem"]["status"].as_u64().unwrap()
}

#[tokio::test]
async fn a_dry_run_decides_as_the_chosen_caller() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    library.purchase(&book(COPY)).await;
    let reader = json!({ "id": READER, "name": "Ada" }).to_string();
    let registered = post(&format!("{}/readers/register", library.url), reader).await;
    assert_eq!(registered.status(), StatusCode::CREATED);
    let other = Uuid::from_u128(101);
    for (caller, problem) in [
        (format!("?role=reader&owner={other}"), "not-owner"),
        ("?role=reader".to_owned(), "not-owner"),
        (format!("?owner={READER}"), "forbidden"),
        ("?role=guest&role=friend".to_owned(), "forbidden"),
    ] {
        let run = try_borrow(&library, &caller).await;
        assert_eq!(rejection(&run), 403, "{caller}");
        let kind = run.1["problem"]["type"].as_str().unwrap();
        assert!(kind.ends_with(problem), "{caller}: {kind}");
    }
    for caller in [
        format!("?role=reader&owner={READER}"),
        "?role=staff".to_owned(),
    ] {
        let (_, run) = try_borrow(&library, &caller).await;
        assert_eq!(run["accepted"], true, "{caller}: {run}");
    }
    let log = library.process.log();
    assert!(
        log.contains("an operator made a dry run of a command"),
        "{log}"
    );
}
