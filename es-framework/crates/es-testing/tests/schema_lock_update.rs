//! The environment variables with which the test of an application writes its lock file.

// Functions that tests share also fail by panicking.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use es_framework::{prelude::*, schema_lock::check_packages};
use serde_json::{Value, json};
use tempfile::TempDir;

#[derive(Event)]
struct BookPurchasedEvent {
    num_pages: u32,
}

#[derive(Event)]
struct BookScannedEvent {}

const PURCHASED: &str = BookPurchasedEvent::TYPE;
const SCANNED: &str = BookScannedEvent::TYPE;
/// Names the lock file of `application_test`.
const FILE: &str = "TESTED_LOCK_FILE";

#[test]
#[ignore = "the other tests run it with variables"]
fn application_test() {
    let file = env::var_os(FILE).unwrap();
    let checked = check_packages(Path::new(&file), &["es-testing"]);
    checked.unwrap_or_else(|error| panic!("{error}"));
}

/// A lock file and the test that compares it.
struct LockedApplication {
    folder: TempDir,
}

impl LockedApplication {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    /// An application whose committed lock differs from its declarations.
    fn with_lock(change: impl FnOnce(&mut Value)) -> Self {
        let application = Self::new();
        let (succeeded, text) = application.test(&UPDATE);
        assert!(succeeded, "{text}");
        let mut lock: Value = serde_json::from_str(&application.lock()).unwrap();
        change(&mut lock["events"]);
        fs::write(application.file(), lock.to_string()).unwrap();
        application
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("events.lock.json")
    }

    fn lock(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    /// Runs the application's test. Returns its success and its output.
    fn test(&self, variables: &[(&str, &str)]) -> (bool, String) {
        let output = Command::new(env::current_exe().unwrap())
            .args(["--exact", "application_test", "--ignored", "--nocapture"])
            .env_remove("SCHEMA_LOCK")
            .env(FILE, self.file())
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(text).unwrap())
    }

    /// Runs the test, which has to fail and to leave the lock as it is. Returns its output.
    fn failed_test(&self, variables: &[(&str, &str)]) -> String {
        let before = fs::read(self.file()).ok();
        let (succeeded, text) = self.test(variables);
        assert!(!succeeded, "{text}");
        assert_eq!(fs::read(self.file()).ok(), before);
        text
    }
}

const UPDATE: [(&str, &str); 1] = [("SCHEMA_LOCK", "update")];

#[test]
fn a_missing_lock_is_written_on_request_and_compared_afterwards() {
    let application = LockedApplication::new();
    let text = application.failed_test(&[]);
    assert!(text.contains("SCHEMA_LOCK=update cargo test"), "{text}");
    assert!(application.test(&UPDATE).0);
    let lock: Value = serde_json::from_str(&application.lock()).unwrap();
    let num_pages = &lock["events"][PURCHASED]["properties"]["numPages"];
    assert_eq!(num_pages["format"], "uint32");
    assert!(lock["events"][SCANNED].is_object());
    let (succeeded, text) = application.test(&[]);
    assert!(succeeded, "{text}");
}

#[test]
fn an_update_loses_no_stored_data() {
    let application = LockedApplication::with_lock(|events| {
        let event = &mut events[PURCHASED];
        event["properties"]["shelf"] = json!({ "type": "string" });
        event["properties"]["numPages"] = json!({ "type": "number" });
    });
    for variables in [&[][..], &UPDATE] {
        let text = application.failed_test(variables);
        for part in [
            "2 changes can orphan stored events",
            "SCHEMA_LOCK=update SCHEMA_LOCK_ACCEPT=",
            "tests/schema_lock_update.rs:",
            "the member shelf is stored, and the declaration has no such member",
            "the member numPages is declared with type \"integer\", and was stored with \"number\"",
            "restore shelf",
            "#[serde(alias = \"shelf\")]",
            "#[upcast]",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
}

#[test]
fn a_change_is_accepted_by_its_event_type_and_no_other() {
    let gone = "com.example.library.BookBurntEvent";
    let application = LockedApplication::with_lock(|events| {
        events[gone] = json!({ "type": "object" });
    });
    let text = application.failed_test(&UPDATE);
    assert!(text.contains(gone) && text.contains("line "), "{text}");
    let accept = |types| [UPDATE[0], ("SCHEMA_LOCK_ACCEPT", types)];
    let text = application.failed_test(&accept(PURCHASED));
    assert!(
        text.contains("leave it out of SCHEMA_LOCK_ACCEPT"),
        "{text}"
    );
    let (succeeded, text) = application.test(&accept(gone));
    assert!(succeeded, "{text}");
    assert!(!application.lock().contains(gone));
}

#[test]
fn an_addition_only_needs_an_update() {
    let application = LockedApplication::with_lock(|events| {
        events.as_object_mut().unwrap().remove(SCANNED);
    });
    let text = application.failed_test(&[]);
    assert!(
        text.contains("out of date") && text.contains("SCHEMA_LOCK=update"),
        "{text}"
    );
    assert!(text.contains(&format!("new: {SCANNED}")), "{text}");
    assert!(!text.contains("orphan"), "{text}");
    assert!(application.test(&UPDATE).0);
    assert!(application.test(&[]).0);
}

#[test]
fn a_file_that_is_no_lock_is_left_alone() {
    let application = LockedApplication::new();
    for content in [
        "<<<<<<< HEAD\n{",
        "{\"note\":\"\",\"form\":2,\"events\":{}}",
    ] {
        fs::write(application.file(), content).unwrap();
        for variables in [&[][..], &UPDATE] {
            let text = application.failed_test(variables);
            assert!(text.contains("events.lock.json"), "{text}");
        }
    }
}

#[test]
fn an_unknown_value_of_the_variable_fails_the_test() {
    let application = LockedApplication::new();
    let text = application.failed_test(&[("SCHEMA_LOCK", "yes")]);
    assert!(
        text.contains("SCHEMA_LOCK=yes is unknown: write SCHEMA_LOCK=update"),
        "{text}"
    );
}
