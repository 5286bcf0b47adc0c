//! Tests of the pages that list commands.

use axum::http::StatusCode;
use es_catalog::model::ModelNode;
use serde_json::json;

use super::{TYPE, TestConsole};

/// Two commands and an event of the model.
pub(super) fn declarations() -> Vec<ModelNode> {
    let node = |kind: &str, name: &str, route: Option<&str>| -> ModelNode {
        serde_json::from_value(json!({
            "id": format!("{kind}:{name}"), "kind": kind, "name": name, "subject": "/books/{id}",
            "summary": "Lends a copy.", "documentation": "", "route": route, "roles": ["reader"],
            "package": "library", "file": "", "line": 1, "schema": null,
        }))
        .unwrap()
    };
    vec![
        node("command", "BorrowBookCommand", Some("POST /books/borrow")),
        node("command", "RecallBookCommand", None),
        node("event", TYPE, None),
    ]
}

#[tokio::test]
async fn the_commands_of_a_subject_lead_to_their_forms_on_the_try_it_page() {
    let console = TestConsole::new(true).await;
    console.record("/books/42", json!({})).await;
    console.record("/readers/ada", json!({})).await;
    let list = "/console/commands?subject=%2Fbooks%2F42";
    for page in ["/console/subjects/books/42", "/console/events/0"] {
        assert!(console.page(page).await.contains(list), "{page}");
    }
    for page in ["/console/subjects/readers/ada", "/console/events/1"] {
        assert!(
            !console.page(page).await.contains("/console/commands?"),
            "{page}"
        );
    }
    for page in [list, "/console/commands"] {
        let commands = console.page(page).await;
        assert!(commands.contains("/docs#BorrowBookCommand"), "{commands}");
        // Clients cannot send an internal command.
        assert!(commands.contains("RecallBookCommand"), "{commands}");
        assert!(!commands.contains("/docs#RecallBookCommand"), "{commands}");
    }
    let none = console.page("/console/commands?subject=/readers/ada").await;
    assert!(none.contains("No command is about this subject"), "{none}");
    let wrong = console.get("/console/commands?subject=books").await;
    assert_eq!(wrong.0, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn the_forms_suggest_what_the_application_declares() {
    let console = TestConsole::new(true).await;
    let page = console.page("/console").await;
    for suggestion in ["/books", "BookPurchasedEvent"] {
        let placeholder = format!("placeholder=\"{suggestion}\"");
        assert!(page.contains(&placeholder), "{page}");
    }
}
