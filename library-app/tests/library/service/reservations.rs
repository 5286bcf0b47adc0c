//! Reservations over HTTP: the walk-through of the page, and a copy that nobody fetches.

use std::{fs, path::Path};

use es_framework::prelude::Timestamp;
use reqwest::StatusCode;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{
    Library, book, eventually, get, json_of,
    page_commands::{code_blocks, run_commands},
    post,
    requirement::require_program,
};

/// Returns a text with a mark in the place of each time.
fn without_times(text: &str) -> String {
    let parts = text
        .trim()
        .split('"')
        .map(|part| match part.parse::<Timestamp>() {
            Ok(_) => "<time>",
            Err(_) => part,
        });
    parts.collect::<Vec<_>>().join("\"")
}

#[tokio::test]
async fn the_walk_through_of_the_page_gives_what_the_page_shows() {
    if !require_program("curl", "curl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/reservations.md");
    let page = fs::read_to_string(page).unwrap();
    let (commands, answers) = (code_blocks(&page, "sh"), code_blocks(&page, "json"));
    assert_eq!((commands.len(), answers.len()), (8, 7));
    let timer = code_blocks(&page, "rust,ignore")[0];
    assert!(include_str!("../../../src/reservation/lapse.rs").contains(timer));
    // The first block prepares the library, and shows nothing.
    for (command, shown) in commands.iter().zip([""].iter().chain(&answers)) {
        let run = || run_commands(&library, folder.path(), command);
        if command.contains("-d ") {
            assert_eq!(without_times(&run()), without_times(shown), "{command}");
        } else {
            // The reaction needs a moment.
            let is_shown = || without_times(&run()) == without_times(shown);
            eventually(shown, async || is_shown().then_some(())).await;
        }
    }
}

#[tokio::test]
async fn a_copy_that_nobody_fetches_goes_to_the_next_reader_and_then_back_to_the_shelf() {
    let folder = tempfile::tempdir().unwrap();
    // A copy is set aside for no time at all.
    let library = Library::embedded_with(folder.path(), &[("HOLD_DAYS", "0")]);
    let send = async |path: &str, body: Value, status| {
        let answer = post(&format!("{}{path}", library.url), body.to_string()).await;
        assert_eq!(answer.status(), status, "{path}");
    };
    let id = Uuid::new_v4();
    send("/books/purchase", book(id), StatusCode::CREATED).await;
    let readers = [(); 3].map(|()| Uuid::new_v4());
    for reader in readers {
        let body = json!({ "id": reader, "name": "a reader" });
        send("/readers/register", body, StatusCode::CREATED).await;
    }
    let by = |reader: Uuid| json!({ "id": id, "reader": reader });
    send("/books/borrow", by(readers[0]), StatusCode::OK).await;
    for reader in &readers[1..] {
        send("/books/reserve", by(*reader), StatusCode::NO_CONTENT).await;
    }
    send("/books/return", json!({ "id": id }), StatusCode::OK).await;
    let steps = async || {
        let events = library.stored_events().await;
        let subject = format!("/books/{id}");
        let of_copy = events
            .iter()
            .filter(|event| event.subject.as_str() == subject);
        let named = of_copy.map(|event| {
            let payload: Value = event.payload().unwrap();
            let name = event.event_type.as_str().rsplit('.').next().unwrap();
            (name.to_owned(), payload["reader"].clone())
        });
        named.skip(3).collect::<Vec<_>>()
    };
    let aside = |reader: Uuid| {
        ["CopySetAsideEvent", "CopyPutBackEvent"].map(|name| (name.to_owned(), json!(reader)))
    };
    let expected = [aside(readers[1]), aside(readers[2])].concat();
    eventually("both reservations lapse", async || {
        (steps().await == expected).then_some(())
    })
    .await;
    let url = format!("{}/books/{id}", library.url);
    eventually("the copy is available", async || {
        let shown = json_of(get(&url).await).await;
        (shown["status"] == "available" && shown["reader"].is_null()).then_some(())
    })
    .await;
}
