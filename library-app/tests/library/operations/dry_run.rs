//! Operators try a command, now and in the past, and nothing is written.

use crate::support::{Library, TOKEN, book, client, json_of, post};
use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

const COPY: Uuid = Uuid::from_u128(1);
const READER: Uuid = Uuid::from_u128(100);

fn request(library: &Library, command: &str, query: &str, body: &Value) -> RequestBuilder {
    let path = format!("/actuator/commands/{command}/dry-run{query}");
    let request = client().post(format!("{}{path}", library.url));
    let request = request.header("content-type", "application/json");
    request.body(body.to_string())
}

async fn try_borrow(library: &Library, query: &str) -> (StatusCode, Value) {
    let body = json!({ "id": COPY, "reader": READER });
    let request = request(library, "BorrowBookCommand", query, &body);
    let answer = request.bearer_auth(TOKEN).send().await.unwrap();
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
async fn a_command_is_tried_now_and_in_the_past_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());

    let nothing = try_borrow(&library, "").await;
    assert_eq!(rejection(&nothing), 404);
    assert_eq!(nothing.1["at"], Value::Null);

    library.purchase(&book(COPY)).await;
    let reader = json!({ "id": READER, "name": "Ada" }).to_string();
    let registered = post(&format!("{}/readers/register", library.url), reader).await;
    assert_eq!(registered.status(), StatusCode::CREATED);

    // Before the reader was registered, and after.
    assert_eq!(rejection(&try_borrow(&library, "?at=0").await), 404);
    let (status, accepted) = try_borrow(&library, "").await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(accepted["accepted"], true);
    assert_eq!(accepted["at"], "1");
    assert_eq!(accepted["subject"], format!("/books/{COPY}"));
    let events = accepted["events"].as_array().unwrap();
    let types: Vec<_> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    let expected = ["BookBorrowedEvent", "LoanOpenedEvent"];
    assert_eq!(
        types,
        expected.map(|name| format!("com.example.library.{name}"))
    );
    let due_at = &events[0]["data"]["payload"]["dueAt"];
    assert_eq!(accepted["reply"]["dueAt"], *due_at);
    assert_eq!(library.stored_events().await.len(), 2);

    // The real command can follow, and then the copy is lent; in the past, it still is not.
    let borrow = json!({ "id": COPY, "reader": READER }).to_string();
    let borrowed = post(&format!("{}/books/borrow", library.url), borrow).await;
    assert_eq!(borrowed.status(), StatusCode::OK);
    let lent = try_borrow(&library, "").await;
    assert_eq!(rejection(&lent), 409);
    assert!(
        lent.1["problem"]["type"]
            .as_str()
            .unwrap()
            .ends_with("copy-lent")
    );
    assert_eq!(try_borrow(&library, "?at=1").await.1["accepted"], true);
    assert_eq!(library.stored_events().await.len(), 4);
    let log = library.process.log();
    assert!(
        log.contains("an operator made a dry run of a command"),
        "{log}"
    );
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
async fn a_dry_run_needs_the_operator_a_command_and_an_event() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let body = json!({ "id": COPY, "reader": READER });
    let anonymous = request(&library, "BorrowBookCommand", "", &body)
        .send()
        .await;
    assert_eq!(anonymous.unwrap().status(), StatusCode::UNAUTHORIZED);
    let wrong = request(&library, "BorrowBookCommand", "", &body).bearer_auth("staff");
    assert_eq!(
        wrong.send().await.unwrap().status(),
        StatusCode::UNAUTHORIZED
    );

    let send = async |command: &str, query: &str, body: &Value| {
        let request = request(&library, command, query, body).bearer_auth(TOKEN);
        let answer = request.send().await.unwrap();
        (answer.status(), json_of(answer).await)
    };
    let (status, problem) = send("LendBookCommand", "", &body).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert_eq!(
        problem["detail"],
        "the application has no command LendBookCommand"
    );
    for query in ["?at=0", "?at=x", "?at=-1", "?at=0&at=0", "?when=0"] {
        let (status, problem) = send("BorrowBookCommand", query, &body).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{query}: {problem}");
    }
    let invalid = send("BorrowBookCommand", "", &json!({ "id": COPY })).await;
    assert_eq!(rejection(&invalid), 422);
    assert_eq!(invalid.1["problem"]["errors"][0]["pointer"], "/reader");
    // An internal command has no route, but it can be tried.
    let overdue = json!({ "id": COPY, "dueAt": "2026-07-29T12:00:00Z" });
    assert_eq!(
        rejection(&send("ReportOverdueCommand", "", &overdue).await),
        404
    );
    assert!(library.stored_events().await.is_empty());
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
}
