//! The subcommand `schema` works without a store and without a port.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

/// The output of `library-app schema`, with its success.
fn schema(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_library-app"))
        .arg("schema")
        .args(arguments)
        // The subcommand ignores these settings of the service.
        .env("HTTP_PORT", "1")
        .env("EVENT_STORE_URL", "http://localhost:1")
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("events.lock.json")
}

/// A copy of the committed lock, changed.
fn lock(folder: &Path, change: impl Fn(&mut Value)) -> String {
    let mut lock: Value = serde_json::from_str(&fs::read_to_string(committed()).unwrap()).unwrap();
    change(&mut lock["events"]);
    let file = folder.join("events.lock.json");
    fs::write(&file, serde_json::to_string_pretty(&lock).unwrap()).unwrap();
    file.to_str().unwrap().to_owned()
}

const PURCHASED: &str = "com.example.library.BookPurchasedEvent";

#[test]
fn the_committed_lock_is_what_would_be_written() {
    let (succeeded, text) = schema(&["show"]);
    assert!(succeeded, "{text}");
    assert_eq!(text, fs::read_to_string(committed()).unwrap());
    let (succeeded, text) = schema(&["check", "--file", committed().to_str().unwrap()]);
    assert!(
        succeeded && text.contains("are read as they were stored"),
        "{text}"
    );
}

#[test]
fn without_a_lock_one_is_written_and_then_checked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.lock.json");
    let file = file.to_str().unwrap();
    let (succeeded, text) = schema(&["check", "--file", file]);
    assert!(
        !succeeded && text.contains("there is no") && text.contains("schema lock"),
        "{text}"
    );
    let (succeeded, text) = schema(&["lock", "--file", file]);
    assert!(succeeded && text.contains("locked"), "{text}");
    assert_eq!(fs::read(file).unwrap(), fs::read(committed()).unwrap());
    assert!(schema(&["check", "--file", file]).0);
}

#[test]
fn a_lost_member_is_named_and_the_lock_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = lock(folder.path(), |events| {
        let event = &mut events[PURCHASED];
        event["properties"]["shelf"] = json!({ "type": "string" });
        event["properties"]["numPages"] = json!({ "type": "number" });
    });
    let before = fs::read(&file).unwrap();
    for arguments in [["check", "--file", &file], ["lock", "--file", &file]] {
        let (succeeded, text) = schema(&arguments);
        assert!(!succeeded, "{text}");
        assert!(
            text.contains("2 changes would orphan stored events"),
            "{text}"
        );
        assert!(text.contains("src/book/purchase.rs:"), "{text}");
        assert!(
            text.contains("the member shelf is stored, and nothing is left of it"),
            "{text}"
        );
        assert!(
            text.contains("the member numPages may be stored as 1.5"),
            "{text}"
        );
        for way_out in ["restore shelf", "#[serde(alias = \"shelf\")]", "#[upcast]"] {
            assert!(text.contains(way_out), "{text}");
        }
    }
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn a_loss_that_is_meant_is_accepted_by_name_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let scanned = "com.example.library.BookScannedEvent";
    let gone = |events: &mut Value| events[scanned] = json!({ "type": "object" });
    let file = lock(folder.path(), gone);
    let (succeeded, text) = schema(&["lock", "--file", &file]);
    assert!(
        !succeeded && text.contains(scanned) && text.contains("line "),
        "{text}"
    );
    let (succeeded, text) = schema(&["lock", "--file", &file, "--accept-loss", PURCHASED]);
    assert!(!succeeded && text.contains("nothing of"), "{text}");
    let (succeeded, text) = schema(&["lock", "--file", &file, "--accept-loss", scanned]);
    assert!(succeeded, "{text}");
    assert_eq!(fs::read(&file).unwrap(), fs::read(committed()).unwrap());
}

#[test]
fn an_addition_only_asks_for_a_new_lock() {
    let folder = tempfile::tempdir().unwrap();
    let file = lock(folder.path(), |events| {
        events.as_object_mut().unwrap().remove(PURCHASED);
    });
    let (succeeded, text) = schema(&["check", "--file", &file]);
    assert!(!succeeded && text.contains("out of date"), "{text}");
    assert!(text.contains(&format!("new: {PURCHASED}")), "{text}");
    assert!(!text.contains("orphan"), "{text}");
    assert!(schema(&["lock", "--file", &file]).0);
}

#[test]
fn a_file_that_is_no_lock_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.lock.json");
    for content in [
        "<<<<<<< HEAD\n{",
        "{\"note\":\"\",\"form\":2,\"events\":{}}",
    ] {
        fs::write(&file, content).unwrap();
        for command in ["check", "lock"] {
            let (succeeded, text) = schema(&[command, "--file", file.to_str().unwrap()]);
            assert!(!succeeded && text.contains("events.lock.json"), "{text}");
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), content);
    }
}
