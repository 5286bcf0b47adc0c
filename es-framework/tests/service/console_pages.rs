//! Pages of the console over a running application.

use std::{fs, os::unix::fs::PermissionsExt as _};

use es_framework::{
    Settings,
    event::{EventCandidate, Metadata, encode},
    store::EventLog as _,
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

#[tokio::test]
async fn a_timeline_leads_to_the_form_of_a_command() {
    let library = RunningService::start();
    let copy = purchase_two(&library).await;
    let list = format!("/console/commands?subject=%2Fbooks%2F{copy}");
    let timeline = read_page(&library, &format!("/console/subjects/books/{copy}")).await;
    assert!(timeline.contains(&list), "{timeline}");
    let commands = read_page(&library, &list).await;
    assert!(
        commands.contains("/docs#BorrowBookCommand") && !commands.contains("ReportLoan"),
        "{commands}"
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
