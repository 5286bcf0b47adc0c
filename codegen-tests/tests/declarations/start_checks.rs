//! Mistakes that compile: a contradiction prevents the start, and a probable mistake is one warning.
//! `src/bin/forgetful.rs` and `src/bin/careless.rs` make them.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
};

const FORGETFUL: &str = include_str!("../../src/bin/forgetful.rs");
const CARELESS: &str = include_str!("../../src/bin/careless.rs");

/// Returns the place of the line that starts with this text.
fn place(file: &str, text: &str, start: &str) -> String {
    let mut lines = text.lines().zip(1..);
    let (_, line) = lines.find(|(line, _)| line.starts_with(start)).unwrap();
    format!("codegen-tests/src/bin/{file}.rs:{line}")
}

#[test]
fn a_state_that_can_never_be_there_prevents_the_start() {
    let output = Command::new(env!("CARGO_BIN_EXE_forgetful"))
        .args(["--http-port", "0", "--event-store-data-dir", "/nowhere"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{text}");
    let sentence = format!(
        "forgetful does not start: BorrowBookCommand, handled at {}, takes `reader: &Reader` from its subject /books/{{id}}, but no event of Reader at {} can occur there, so that there is never such a state: its events occur on /readers/{{id}}: write `#[subject(\"/readers/{{id}}\")]` in front of `reader`, with a field of the command in the braces",
        place("forgetful", FORGETFUL, "fn borrow"),
        place("forgetful", FORGETFUL, "pub struct Reader {"),
    );
    assert!(
        text.contains(&sentence),
        "{text} does not contain {sentence}"
    );
}

/// Returns the warnings in the log of the start.
fn warnings() -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    let hash = "0".repeat(64);
    fs::write(&tokens, format!("ada reader {hash}\n")).unwrap();
    fs::set_permissions(&tokens, fs::Permissions::from_mode(0o600)).unwrap();
    let mut process = Command::new(env!("CARGO_BIN_EXE_careless"))
        .env_remove("RUST_LOG")
        .args(["--http-port", "0", "--event-store-port", "0"])
        .arg("--auth-tokens-file")
        .arg(&tokens)
        .arg("--event-store-data-dir")
        .arg(folder.path().join("data"))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let log = BufReader::new(process.stderr.take().unwrap()).lines();
    let log = log.map(Result::unwrap);
    let start = log.take_while(|line| !line.contains("careless listens on"));
    let warnings = start.filter(|line| line.contains("WARN")).collect();
    process.kill().unwrap();
    process.wait().unwrap();
    warnings
}

#[test]
fn each_probable_mistake_is_one_warning_that_an_attribute_silences() {
    let warnings = warnings();
    let at = |start| place("careless", CARELESS, start);
    let expected = [
        format!(
            "no state, read model, reaction or publication consumes com.example.tests.BookPricedEvent at {}: consume it, or write `#[event(informational)]`",
            at("pub struct BookPricedEvent"),
        ),
        format!(
            "the state Book at {} ignores com.example.tests.BookCountedEvent at {}, which occurs on its subject /books/{{id}}",
            at("pub struct Book {}"),
            at("pub struct BookCountedEvent"),
        ),
        format!(
            "the reaction Recount at {} can start itself for ever: it sends CountBookCommand, handled at {}, which records com.example.tests.BookCountedEvent",
            at("impl Recount"),
            at("fn count"),
        ),
        format!(
            "no handler and no reaction takes the settings Prices at {}, so that their flags and variables do not exist: take them as `&Prices`, remove them, or write `#[settings(unused)]`",
            at("pub struct Prices"),
        ),
        format!(
            "no publication publishes com.example.tests.BookPriced.v1 at {}: return it from a function with `#[publish]`, or remove it",
            at("pub struct BookPriced {}"),
        ),
        format!(
            "no token in AUTH_TOKENS_FILE has the role staff, which PurchaseBookCommand at {} requires, so that nobody can call it: add a token with `token create`, correct the role, or write `role_without_token` beside it",
            at("pub struct PurchaseBookCommand"),
        ),
    ];
    for sentence in &expected {
        let count = warnings.iter().filter(|one| one.contains(sentence)).count();
        assert_eq!(count, 1, "{sentence} in {warnings:#?}");
    }
    let is_of_declarations = |line: &&String| line.contains(".rs:");
    let count = warnings.iter().filter(is_of_declarations).count();
    assert_eq!(count, expected.len(), "{warnings:#?}");
}

#[test]
fn the_description_lists_the_findings_that_the_start_warns_about() {
    let output = Command::new(env!("CARGO_BIN_EXE_careless"))
        .arg("describe")
        .output()
        .unwrap();
    let description: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = description["model"]["findings"].as_array().unwrap();
    let text = |finding: &serde_json::Value, member: &str| {
        let text = finding[member].as_str().unwrap();
        text.to_owned()
    };
    let found: Vec<_> = findings
        .iter()
        .map(|one| (text(one, "kind"), text(one, "node"), one["line"].clone()))
        .collect();
    let line = |start| {
        let place = place("careless", CARELESS, start);
        let (_, line) = place.rsplit_once(':').unwrap();
        serde_json::Value::from(line.parse::<u32>().unwrap())
    };
    // The roles of callers are known to a running service only.
    let expected = [
        (
            "ignoredEvent",
            "event:com.example.tests.BookCountedEvent",
            line("pub struct BookCountedEvent"),
        ),
        (
            "unconsumedEvent",
            "event:com.example.tests.BookPricedEvent",
            line("pub struct BookPricedEvent"),
        ),
        ("reactionLoop", "reaction:Recount", line("impl Recount")),
        (
            "unpublishedEvent",
            "public-event:com.example.tests.BookPriced.v1",
            line("pub struct BookPriced {}"),
        ),
        (
            "unusedSettings",
            "settings:Prices",
            line("pub struct Prices"),
        ),
    ];
    let expected = expected.map(|(kind, node, line)| (kind.to_owned(), node.to_owned(), line));
    assert_eq!(found, expected);
    let ignored = text(&findings[0], "message");
    assert!(
        ignored.starts_with(
            "the state Book ignores com.example.tests.BookCountedEvent, which occurs on its subject /books/{id}: add a function"
        ),
        "{ignored}"
    );
}
