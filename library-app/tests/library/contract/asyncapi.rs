//! The AsyncAPI document is valid, is equal to the committed copy, and describes the public events.

use std::{fs, path::Path, process::Command};

use serde_json::Value;

use super::tools::described;
use crate::support::{node_environment::folder_with_packages, python_environment::printed};

const FOLDER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/library/contract/asyncapi_parser"
);

#[test]
fn the_document_of_public_events_is_the_one_that_is_kept() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("asyncapi.json");
    let kept = fs::read_to_string(kept).unwrap_or_default();
    assert!(
        kept == format!("{:#}\n", described("asyncapi")),
        "library-app/asyncapi.json is not what the library says of itself: look at what `(cd library-app && cargo es asyncapi > asyncapi.json)` changes"
    );
}

#[test]
fn the_official_parser_understands_that_the_library_sends_its_public_events() {
    let Some(packages) = folder_with_packages("asyncapi-parser", Path::new(FOLDER)) else {
        return;
    };
    let script = packages.join("validate.js");
    fs::copy(Path::new(FOLDER).join("validate.js"), &script).unwrap();
    let work = tempfile::tempdir().unwrap();
    let file = work.path().join("asyncapi.json");
    let validate = |document: &Value| {
        fs::write(&file, document.to_string()).unwrap();
        let mut node = Command::new("node");
        node.arg(&script).arg(&file).output().unwrap()
    };
    let mut document = described("asyncapi");
    let output = validate(&document);
    assert!(output.status.success(), "{}", printed(&output));
    let understood = String::from_utf8(output.stdout).unwrap();
    let names = [
        "CopyAvailable",
        "CopyLent",
        "CopyPurchased",
        "CopyRemoved",
        "LoanOverdue",
        "ReservedTitleAvailable",
    ];
    let expected = names.map(|name| format!("send com.example.library.{name}.v1\n"));
    assert_eq!(understood, expected.concat());

    // The parser finds mistakes.
    document["operations"]["com.example.library.CopyLent.v1"]["action"] = "publish".into();
    let output = validate(&document);
    assert!(!output.status.success(), "{}", printed(&output));
}

/// No public event of the library has an id of a reader.
#[test]
fn no_message_names_a_reader() {
    let text = described("asyncapi")["components"].to_string();
    assert!(
        text.contains("dueAt") && !text.contains("reader\":"),
        "{text}"
    );
}
