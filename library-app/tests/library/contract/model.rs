//! The picture of the library's model in the book is the one that `cargo es draw` prints.

use std::{fs, path::Path};

use reqwest::StatusCode;
use serde_json::Value;

use super::tools::{described, require_cargo_es, run_cargo_es};
use crate::support::{Library, TOKEN, client};

const PICTURE: &str = "docs/src/images/library-model.svg";

#[test]
fn the_picture_of_the_model_is_the_one_that_is_kept() {
    let Some(program) = require_cargo_es() else {
        return;
    };
    let kept = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(PICTURE);
    let kept = fs::read_to_string(kept).unwrap_or_default();
    assert!(
        kept == run_cargo_es(&program, &["draw"]),
        "{PICTURE} is not the model of the library: look at what `(cd library-app && cargo es draw > ../{PICTURE})` changes"
    );
}

#[test]
fn the_model_of_the_library_has_no_findings_and_knows_the_roles() {
    let Some(program) = require_cargo_es() else {
        return;
    };
    let data = described("model");
    assert_eq!(data["application"], "library-service");
    assert_eq!(data["findings"], serde_json::json!([]));
    let nodes = data["nodes"].as_array().unwrap();
    let borrow = nodes
        .iter()
        .find(|node| node["id"] == "command:BorrowBookCommand")
        .unwrap();
    assert_eq!(borrow["route"], "POST /books/borrow");
    assert_eq!(borrow["roles"], serde_json::json!(["reader", "staff"]));
    assert_eq!(borrow["file"], "src/book/borrow.rs");

    let data = run_cargo_es(&program, &["draw", "--format", "json", "--roles", "reader"]);
    let data: Value = serde_json::from_str(&data).unwrap();
    let findings = data["findings"].as_array().unwrap();
    let names: Vec<_> = findings
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    let staff = [
        "PurchaseBookCommand",
        "RemoveBookCommand",
        "RegisterReaderCommand",
    ];
    assert_eq!(names, staff);
}

#[test]
fn the_model_is_a_mermaid_flowchart() {
    let Some(program) = require_cargo_es() else {
        return;
    };
    let flowchart = run_cargo_es(&program, &["draw", "--format", "mermaid"]);
    assert!(flowchart.starts_with("flowchart LR\n"), "{flowchart}");
    assert!(
        flowchart.contains("BorrowBookCommand<br/>POST /books/borrow<br/>role reader or staff")
    );
}

#[tokio::test]
async fn the_console_shows_the_model_and_a_declaration() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let page = async |query: &str| {
        let request = client().get(format!("{}/console/model{query}", library.url));
        let answer = request.bearer_auth(TOKEN).send().await.unwrap();
        (answer.status(), answer.text().await.unwrap())
    };
    let (status, whole) = page("").await;
    assert_eq!(status, StatusCode::OK);
    assert!(whole.contains("<svg") && !whole.contains("id=\"declaration\""));
    let (status, selected) = page("?node=command%3ABorrowBookCommand").await;
    assert_eq!(status, StatusCode::OK);
    let declared = selected.split("id=\"declaration\"").nth(1).unwrap();
    assert!(declared.contains("src/book/borrow.rs:"), "{declared}");
    assert!(declared.contains("node=event%3Acom.example.library.LoanOpenedEvent"));
    let (status, _) = page("?node=command%3ALendBookCommand").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}
