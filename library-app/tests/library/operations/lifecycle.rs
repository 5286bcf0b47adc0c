//! Start, health and shutdown of the library.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    process::Command,
    time::{Duration, Instant},
};

use crate::support::{Library, PATIENCE, book, eventually, get, json_of};
use reqwest::StatusCode;
use serde_json::Value;
use uuid::Uuid;

async fn probe(library: &Library, path: &str) -> (StatusCode, Value) {
    let answer = get(&format!("{}/actuator/{path}", library.url)).await;
    (answer.status(), json_of(answer).await)
}

#[tokio::test]
async fn a_library_is_ready_once_its_read_models_are_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let ready = eventually("the library is ready", async || {
        let (status, told) = probe(&library, "health/readiness").await;
        (status == StatusCode::OK).then_some(told)
    })
    .await;
    assert_eq!(ready["status"], "UP");
    assert_eq!(ready["components"]["readModels"]["status"], "UP");
    let (status, live) = probe(&library, "health/liveness").await;
    assert_eq!(
        (status, &live["status"]),
        (StatusCode::OK, &Value::from("UP"))
    );
    let (_, info) = probe(&library, "info").await;
    assert_eq!(info["app"]["name"], "library-service");
    assert_eq!(info["app"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(info["framework"]["version"], env!("CARGO_PKG_VERSION"));
}

/// Sends a purchase without its body, so that the library waits for the body.
fn half_a_purchase(library: &Library) -> (TcpStream, String) {
    let body = book(Uuid::new_v4()).to_string();
    let address = library.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "POST /books/purchase HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nexpect: 100-continue\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut begun = [0; 25];
    stream.read_exact(&mut begun).unwrap();
    assert_eq!(&begun, b"HTTP/1.1 100 Continue\r\n\r\n");
    (stream, body)
}

fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "not within a minute: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_request_in_flight_is_answered_before_the_process_ends() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("SHUTDOWN_TIMEOUT", "60")];
    let library = Library::embedded_with(folder.path(), &settings);
    let address = library.url.strip_prefix("http://").unwrap().to_owned();
    let (mut stream, body) = half_a_purchase(&library);
    library.process.terminate();
    wait_for("nobody else is let in", || {
        TcpStream::connect(&address).is_err()
    });
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 Created"), "{answer}");
    let (status, log) = library.process.ended();
    assert!(
        status.success() && log.contains("library-service has stopped"),
        "{log}"
    );
    assert!(!log.contains("panicked"), "{log}");
    let restarted = Library::embedded(folder.path());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let stored = runtime.block_on(restarted.stored_events());
    assert_eq!(stored.len(), 1, "what was answered is there");
}

#[test]
fn a_request_that_never_ends_does_not_keep_the_process_longer_than_the_setting() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("SHUTDOWN_TIMEOUT", "1")];
    let library = Library::embedded_with(folder.path(), &settings);
    let (mut stream, _) = half_a_purchase(&library);
    let begin = Instant::now();
    library.process.terminate();
    let mut rest = String::new();
    let _ = stream.read_to_string(&mut rest);
    let (status, log) = library.process.ended();
    assert!(status.success(), "{log}");
    assert!(!rest.contains("201"), "{rest}");
    assert!(log.contains("requests were still open"), "{log}");
    assert!(
        begin.elapsed() < Duration::from_secs(20),
        "the body's own limit was not waited for"
    );
}

#[test]
fn a_start_says_what_it_stands_on_and_how_long_it_took() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let library = Library::embedded(folder.path());
    for _ in 0..3 {
        runtime.block_on(library.purchase(&book(Uuid::new_v4())));
    }
    assert!(library.process.stop().success());
    let library = Library::embedded(folder.path());
    wait_for("the read models are rebuilt", || {
        library
            .process
            .log()
            .contains("the read model book_copies is up to date")
    });
    let log = library.process.log();
    let folder = folder.path().display();
    for said in [
        &format!("events are stored in {folder}"),
        "events=3",
        "read models are stored in SQLite, sqlite::memory:",
        "event store listens on http://127.0.0.1:",
        "library-service listens on http://127.0.0.1:",
        "milliseconds=",
    ] {
        assert!(log.contains(said), "{said}: {log}");
    }
}

#[test]
fn help_explains_every_setting_and_subcommand() {
    let output = Command::new(env!("CARGO_BIN_EXE_library-app"))
        .arg("--help")
        .output();
    let help = String::from_utf8(output.unwrap().stdout).unwrap();
    let settings: Vec<_> = help.split("\n      --").skip(1).collect();
    assert!(settings.len() > 10, "{help}");
    for setting in settings {
        let explained = setting.lines().skip(1).any(|line| line.trim().len() > 10);
        assert!(explained, "{setting}");
    }
    let (_, subcommands) = help.split_once("Commands:\n").unwrap();
    let (subcommands, _) = subcommands.split_once("\n\n").unwrap();
    let words: Vec<_> = subcommands.split_whitespace().collect();
    let subcommands = words.join(" ");
    for text in [
        "projection Shows and repairs the read models of the running application",
        "reaction Shows and repairs the reactions of the running application",
    ] {
        assert!(subcommands.contains(text), "{subcommands}");
    }
}

#[test]
fn the_command_line_shows_the_version() {
    let output = Command::new(env!("CARGO_BIN_EXE_library-app"))
        .arg("--version")
        .output();
    let shown = String::from_utf8(output.unwrap().stdout).unwrap();
    let expected = concat!("library-service ", env!("CARGO_PKG_VERSION"));
    assert_eq!(shown.trim(), expected);
}
