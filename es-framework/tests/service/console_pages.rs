//! Pages of the console over a running application.

use std::{fs, os::unix::fs::PermissionsExt as _};

use es_framework::{
    ClientResponse, Settings,
    axum::{
        body::Body,
        http::{Request, header},
    },
    event::{EventCandidate, Metadata, encode},
    store::EventStore as _,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    eventually::eventually,
    running_service::{RunningService, TOKEN, book},
};

async fn read_page(library: &RunningService, path: &str) -> String {
    let operator = library.client.clone().with_bearer(TOKEN);
    let page = operator.get(&path.replace("&amp;", "&")).await.unwrap();
    page.text()
}

/// Purchases two copies, with event 0 and event 1, and returns the second one.
async fn purchase_two(library: &RunningService) -> Uuid {
    library.purchase(&book(Uuid::new_v4())).await;
    let copy = Uuid::new_v4();
    assert_eq!(library.purchase(&book(copy)).await.status, 201);
    copy
}

#[tokio::test]
async fn the_console_is_for_operators_where_callers_authenticate() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    // A file without tokens: nobody but operators can authenticate.
    fs::write(&tokens, "").unwrap();
    fs::set_permissions(&tokens, fs::Permissions::from_mode(0o600)).unwrap();
    let settings = Settings::default().auth_tokens_file(Some(tokens));
    let library = RunningService::start_with(settings);
    let operator = library.client.clone().with_bearer(TOKEN);
    for path in ["/console", "/console/subjects"] {
        let anonymous = library.client.get(path).await.unwrap();
        assert_eq!(anonymous.status, 401, "{path}");
        assert_eq!(operator.get(path).await.unwrap().status, 200, "{path}");
    }
    let live = library.client.get("/console/events/live").await.unwrap();
    assert_eq!(live.status, 401);
}

/// Sends the form of a borrow.
async fn send_form(
    library: &RunningService,
    json: &Value,
    at: &str,
    token: &str,
) -> ClientResponse {
    let json = json.to_string();
    let json: String = json.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let request = Request::post("/console/commands/BorrowBookCommand")
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Body::from(format!("json={json}&at={at}")));
    library.client.send(request.unwrap()).await.unwrap()
}

#[tokio::test]
async fn an_operator_tries_a_command_before_and_after_an_event() {
    let library = RunningService::start();
    let copy = purchase_two(&library).await;
    let borrow = json!({ "id": copy, "reader": copy });
    let before = send_form(&library, &borrow, "0", TOKEN).await;
    assert_eq!(before.status, 200);
    let before = before.text();
    assert!(before.contains("Rejected as of event 0"), "{before}");
    assert!(before.contains(&format!("/books/{copy} does not exist")));
    for at in ["1", ""] {
        let after = send_form(&library, &borrow, at, TOKEN).await.text();
        assert!(after.contains("Accepted as of event 1"), "{after}");
        assert!(after.contains("BookBorrowedEvent"));
    }
    let invalid = json!({ "id": copy });
    let invalid = send_form(&library, &invalid, "", TOKEN).await.text();
    assert!(invalid.contains("Rejected") && invalid.contains("<bdi>/reader</bdi>"));
    let later = send_form(&library, &borrow, "7", TOKEN).await;
    assert_eq!(later.status, 400);
    let later = later.text();
    assert!(later.contains("the newest event is 1"), "{later}");
    // Only an operator may send the form.
    let stranger = send_form(&library, &borrow, "", "wrong").await;
    assert_eq!(stranger.status, 401);
    assert_eq!(library.stored_events().await.len(), 2);
}

#[tokio::test]
async fn a_timeline_leads_to_the_form_of_a_command() {
    let library = RunningService::start();
    let copy = purchase_two(&library).await;
    let query = format!("?subject=%2Fbooks%2F{copy}&amp;at=1");
    let timeline = read_page(&library, &format!("/console/subjects/books/{copy}")).await;
    assert!(timeline.contains(&format!("/console/commands{query}")));
    let list = read_page(&library, &format!("/console/commands{query}")).await;
    let link = format!("/console/commands/BorrowBookCommand{query}");
    assert!(
        list.contains(&link) && !list.contains("ReportLoan"),
        "{list}"
    );
    let form = read_page(&library, &link).await;
    let example = format!("&quot;id&quot;: &quot;{copy}&quot;");
    assert!(
        form.contains(&example) && form.contains("type=\"submit\""),
        "{form}"
    );
}

#[tokio::test]
async fn a_timeline_marks_the_snapshot_of_a_state() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snapshots.sqlite");
    let library = RunningService::start_with(Settings::default().snapshot_file(Some(file)));
    let copy = purchase_two(&library).await;
    let returned = (0..600).map(|_| EventCandidate {
        source: "tests".into(),
        subject: format!("/books/{copy}").parse().unwrap(),
        event_type: "com.example.library.BookReturnedEvent".parse().unwrap(),
        data: encode(&Metadata::default(), &json!({})).unwrap(),
        trace: None,
    });
    let written = library.store.append(returned.collect(), vec![]).await;
    assert_eq!(written.unwrap().len(), 600);
    let timeline = format!("/console/subjects/books/{copy}");
    let page = async || read_page(&library, &timeline).await;
    assert!(!page().await.contains(">snapshot<"));
    // The command reads all events, so it saves the state before its own event.
    let reader = json!({ "reader": copy });
    let borrow = format!("/books/{copy}/borrow");
    let borrowed = library.client.post(&borrow, &reader).await.unwrap();
    assert_eq!(borrowed.status, 204);
    let page = eventually("the snapshot is marked", async || {
        Some(page().await).filter(|page| page.contains(">snapshot<"))
    })
    .await;
    let (_, marked) = page.split_once("id=\"event-601\"").unwrap();
    let (marked, _) = marked.split_once("</li>").unwrap();
    assert!(marked.contains(">snapshot<"), "{marked}");
    assert_eq!(page.matches(">snapshot<").count(), 1);
}

#[tokio::test]
async fn a_setting_turns_the_console_off() {
    let library = RunningService::start_with(Settings::default().console(false));
    let answer = library.client.get("/console").await.unwrap();
    assert_eq!(answer.status, 404);
}

#[tokio::test]
async fn a_list_of_rows_leads_to_each_whole_row() {
    let library = RunningService::start();
    let title = "The Lord of the Rings ".repeat(20);
    let mut long = book(Uuid::new_v4());
    long["title"] = title.trim().into();
    assert_eq!(library.purchase(&long).await.status, 201);
    let operator = library.client.clone().with_bearer(TOKEN);
    let rows = "/console/rows/book_copies";
    let link = eventually("the row is there", async || {
        let list = read_page(&library, rows).await;
        assert!(!list.contains(title.trim()), "{list}");
        let (_, link) = list.split_once(&format!("href=\"{rows}/"))?;
        let (position, _) = link.split_once('"')?;
        Some(format!("{rows}/{position}"))
    })
    .await;
    let row = operator.get(&link).await.unwrap();
    assert_eq!(row.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(row.json::<Value>().unwrap()["title"], long["title"]);
    let missing = operator.get(&format!("{rows}/7000")).await.unwrap();
    assert_eq!(missing.status, 404);
    let malformed = operator.get(&format!("{rows}/x")).await.unwrap();
    assert_eq!(malformed.status, 400);
}
