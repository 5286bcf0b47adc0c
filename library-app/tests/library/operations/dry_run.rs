//! Operators try a command as some caller, and by the subcommand.

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
    let borrow = json!({ "id": COPY, "reader": READER }).to_string();
    let [role, owner] =
        [["--role", "reader"], ["--owner", &other.to_string()]].map(|it| it.map(str::to_owned));
    let arguments = [
        "dry-run",
        "BorrowBookCommand",
        &borrow,
        &role[0],
        &role[1],
        &owner[0],
        &owner[1],
    ];
    let said = library.said(&arguments, true);
    assert!(said.contains("belongs to somebody else"), "{said}");
}

#[tokio::test]
async fn the_subcommand_tells_what_would_happen() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let purchase = book(COPY);
    let text = purchase.to_string();
    let now = library.said(&["dry-run", "PurchaseBookCommand", &text], true);
    assert!(
        now.starts_with(
            "PurchaseBookCommand would be accepted without any event, and append 1 event\n"
        ),
        "{now}"
    );
    assert!(now.contains(&format!(
        "com.example.library.BookPurchasedEvent on /books/{COPY}"
    )));
    library.purchase(&purchase).await;
    let again = library.said(&["dry-run", "PurchaseBookCommand", &text], true);
    assert!(
        again.contains("would be rejected as of event 0, 409 It already exists"),
        "{again}"
    );
    let blank = json!({ "id": COPY, "isbn": "1", "title": " ", "author": "a", "numPages": 1 });
    let blank = library.said(
        &["dry-run", "PurchaseBookCommand", &blank.to_string()],
        true,
    );
    assert!(blank.contains("\n  /title "), "{blank}");
    let json = library.said(
        &[
            "dry-run",
            "PurchaseBookCommand",
            &text,
            "--format",
            "json",
            "--at",
            "0",
        ],
        true,
    );
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["accepted"], false);
    let later = library.said(
        &["dry-run", "PurchaseBookCommand", &text, "--at", "7"],
        false,
    );
    assert!(
        later.contains("event 7 is not recorded; the newest event is 0"),
        "{later}"
    );
    let unknown = library.said(&["dry-run", "Lend/Book", &text], false);
    assert!(
        unknown.contains("letters, digits and underscores"),
        "{unknown}"
    );
    assert_eq!(library.stored_events().await.len(), 1);
    let log = library.process.log();
    assert!(
        log.contains("an operator made a dry run of a command"),
        "{log}"
    );
}
