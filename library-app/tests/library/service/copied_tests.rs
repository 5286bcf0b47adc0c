//! The console writes a dry run as a test. The library contains two of them, which run with its other tests.

use reqwest::StatusCode;
use serde_json::json;
use uuid::Uuid;

use crate::support::{Library, TOKEN, book, client, post};

/// The tests that were copied from the console.
const COPIED: &str = include_str!("../../../src/book/copied_tests.rs");
const COPY: Uuid = Uuid::from_u128(1);
const READER: Uuid = Uuid::from_u128(100);

/// Makes a dry run in the console, and returns the code of its test.
async fn copied_test(library: &Library) -> String {
    let body = json!({ "id": COPY, "reader": READER }).to_string();
    let body: String = body.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let request = client()
        .post(format!(
            "{}/console/commands/BorrowBookCommand",
            library.url
        ))
        .header("content-type", "application/x-www-form-urlencoded")
        .bearer_auth(TOKEN)
        .body(format!("json={body}&at="));
    let page = request.send().await.unwrap().text().await.unwrap();
    let (_, code) = page.split_once("id=\"test-code\"").unwrap();
    let (_, code) = code.split_once("<code>").unwrap();
    let (code, _) = code.split_once("</code>").unwrap();
    let entities = [
        ("&quot;", "\""),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&amp;", "&"),
    ];
    let replace = |code: String, (entity, text): (&str, &str)| code.replace(entity, text);
    entities.into_iter().fold(code.to_owned(), replace)
}

/// Replaces the text between two others, wherever it is.
fn replace_between(code: &str, before: &str, after: &str, new: &str) -> String {
    let (_, rest) = code.split_once(before).unwrap();
    let (old, _) = rest.split_once(after).unwrap();
    code.replace(old, new)
}

/// Checks that the library contains the code, apart from the times.
fn assert_copied(code: &str) {
    let code = replace_between(code, ".at(\"", "\"", "2026-07-01T12:00:00Z");
    let code = replace_between(&code, "\"dueAt\":\"", "\"", "2026-07-29T12:00:00Z");
    assert!(
        COPIED.contains(&code),
        "copy this into src/book/copied_tests.rs:\n{code}"
    );
}

#[tokio::test]
async fn a_dry_run_is_copied_as_a_test_that_passes() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let ada = json!({ "id": READER, "name": "Ada" }).to_string();
    let registered = post(&format!("{}/readers/register", library.url), ada).await;
    assert_eq!(registered.status(), StatusCode::CREATED);
    assert_eq!(
        library.purchase(&book(COPY)).await.status(),
        StatusCode::CREATED
    );
    let accepted = copied_test(&library).await;
    let body = json!({ "id": COPY, "reader": READER }).to_string();
    let borrowed = post(&format!("{}/books/borrow", library.url), body).await;
    assert_eq!(borrowed.status(), StatusCode::OK);
    let rejected = copied_test(&library).await;
    assert_copied(&accepted);
    assert_copied(&rejected);
}
