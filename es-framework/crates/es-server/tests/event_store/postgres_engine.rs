//! The program `event-store` on PostgreSQL: several servers on one database, the other commands, and
//! copies between engines.

use std::{
    path::Path,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use es_event::{EventCandidate, Subject};
use es_store::{
    AppendError, EventLog as _, ObserveOptions, Precondition, ReadOptions, StoreCatalog as _,
    StoreError,
};
use es_store_client::{ClientSettings, EventSourcingDbStore};
use es_store_sqlite::EmbeddedStore;
use futures_util::TryStreamExt as _;
use serde_json::value::RawValue;
use tempfile::TempDir;

use super::{
    server_process::{ServerProcess, TOKEN},
    support::postgres_server::PostgresServer,
};

fn candidate(number: usize) -> EventCandidate {
    EventCandidate {
        source: "tag:test".into(),
        subject: format!("/books/{number}").parse().unwrap(),
        event_type: "io.example.test".parse().unwrap(),
        data: RawValue::from_string(format!(r#"{{"number":{number}}}"#)).unwrap(),
        trace: None,
    }
}

fn client(server: &ServerProcess) -> EventSourcingDbStore {
    EventSourcingDbStore::new(ClientSettings::new(&server.url, TOKEN)).unwrap()
}

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_event-store"));
    command.args(arguments).env_remove("RUST_LOG");
    command.stdin(Stdio::null());
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
}

fn succeeds(arguments: &[&str]) -> String {
    let output = program(arguments).output().unwrap();
    let said = said(&output);
    assert!(output.status.success(), "{arguments:?}: {said}");
    said
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_on_one_database_share_its_events() {
    let Some(postgres) = PostgresServer::start() else {
        return;
    };
    let url = postgres.url();
    let arguments = ["--engine", url.as_str(), "--http-port=0"];
    let (first, second) = (
        ServerProcess::start(&arguments),
        ServerProcess::start(&arguments),
    );
    let (first, second) = (client(&first), client(&second));
    for number in 0..20 {
        let store = if number % 2 == 0 { &first } else { &second };
        store.append(vec![candidate(number)], vec![]).await.unwrap();
    }
    let pristine = Precondition::SubjectIsPristine("/books/7".parse().unwrap());
    let refused = first.append(vec![candidate(7)], vec![pristine]).await;
    assert!(refused.is_err());
    let read = second.read(Subject::root(), ReadOptions::recursive());
    let events: Vec<_> = read.try_collect().await.unwrap();
    assert_eq!(events.len(), 20);
    let whole = succeeds(&["verify", "--engine", &url]);
    assert!(whole.starts_with("whole: 20 events"), "{whole}");
    let stats = succeeds(&["stats", "--engine", &url]);
    assert!(stats.contains("PostgreSQL database postgres"), "{stats}");
    assert!(stats.contains("events:      20"), "{stats}");
    let exported = succeeds(&["export", "--engine", &url, "--subject", "/books/7"]);
    assert!(exported.contains(r#""number":7"#), "{exported}");
    let backup = succeeds(&["backup", "--engine", &url]);
    assert!(backup.contains("backed up 20 events"), "{backup}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_an_index_lacks_is_named_and_an_operator_has_it_added() {
    let Some(postgres) = PostgresServer::start() else {
        return;
    };
    let url = postgres.url();
    let arguments = ["--engine", url.as_str(), "--http-port=0"];
    let server = ServerProcess::start(&arguments);
    let store = client(&server);
    for number in 0..5 {
        store.append(vec![candidate(number)], vec![]).await.unwrap();
    }
    drop(server);
    postgres.query("DELETE FROM es_subtrees WHERE id = 3");
    for _ in 0..2 {
        let output = program(&["verify", "--engine", &url]).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let said = said(&output);
        assert!(
            said.contains("the table es_subtrees is damaged: it lacks event 3 for /books\n"),
            "{said}"
        );
    }
    let server = ServerProcess::start(&arguments);
    let store = client(&server);
    let refused = store.append(vec![candidate(5)], vec![]).await;
    assert!(
        matches!(
            refused,
            Err(AppendError::Store(StoreError::Unavailable { .. }))
        ),
        "{refused:?}"
    );
    succeeds(&["verify", "--rebuild", "--engine", &url]);
    store.append(vec![candidate(5)], vec![]).await.unwrap();
    let whole = succeeds(&["verify", "--engine", &url]);
    assert!(whole.starts_with("whole: 6 events"), "{whole}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_two_servers_survives_the_end_of_one() {
    let Some(postgres) = PostgresServer::start() else {
        return;
    };
    let url = postgres.url();
    let arguments = ["--engine", url.as_str(), "--http-port=0"];
    let (first, second) = (
        ServerProcess::start(&arguments),
        ServerProcess::start(&arguments),
    );
    let urls = format!("{},{}", first.url, second.url);
    let store = EventSourcingDbStore::new(ClientSettings::new(urls, TOKEN)).unwrap();
    let mut observed = store.observe(Subject::root(), ObserveOptions::recursive_after(None));
    for number in 0..3 {
        store.append(vec![candidate(number)], vec![]).await.unwrap();
        let event = observed.try_next().await.unwrap().unwrap();
        assert_eq!(event.id.get(), u64::try_from(number).unwrap());
    }
    drop(first);
    for number in 3..6 {
        // The connection that the first server closed may have taken the request along.
        let written = store.append(vec![candidate(number)], vec![]).await;
        if let Err(error) = written {
            assert!(matches!(error, AppendError::Unknown { .. }), "{error:?}");
            store.append(vec![candidate(number)], vec![]).await.unwrap();
        }
        let event = observed.try_next().await.unwrap().unwrap();
        assert_eq!(event.id.get(), u64::try_from(number).unwrap());
    }
    store.health().await.unwrap();
}

#[test]
fn an_engine_that_is_away_is_named_without_its_password() {
    let url = "postgres://me:secret@127.0.0.1:1/events?durability=some";
    let output = program(&["verify", "--engine", url]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = said(&output);
    assert_eq!(
        said,
        "error: --engine: write durability=unsafe, or leave it out\n"
    );
}

const EVENTS: usize = 30_000;

async fn fill(directory: &Path) {
    let store = EmbeddedStore::open(directory).unwrap();
    for first in (0..EVENTS).step_by(1_000) {
        let events = (first..first + 1_000).map(candidate).collect();
        store.append(events, vec![]).await.unwrap();
    }
    store.close().await;
}

/// Starts a copy and kills it after a while.
fn interrupt(arguments: &[&str], after: Duration) {
    let mut child = program(arguments).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while begun.elapsed() < after && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    child.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_copy_continues_in_both_directions() {
    let Some(postgres) = PostgresServer::start() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let (from, back) = (folder.path().join("from"), folder.path().join("back"));
    fill(&from).await;
    let (from, back, url) = (
        from.to_str().unwrap(),
        back.to_str().unwrap(),
        postgres.url(),
    );
    let whole = succeeds(&["verify", "--data-directory", from]);
    let end = whole.trim_start_matches("whole: ");

    for (source, target) in [(from, url.as_str()), (url.as_str(), back)] {
        let copy = ["copy", "--from", source, "--to", target];
        for milliseconds in [300, 600, 900] {
            interrupt(&copy, Duration::from_millis(milliseconds));
        }
        // The second run finds a complete copy.
        for _ in 0..2 {
            let copied = succeeds(&copy);
            assert!(
                copied.contains(&format!("copied {EVENTS} events")),
                "{copied}"
            );
        }
    }
    let copied = succeeds(&["verify", "--engine", &url]);
    assert!(copied.ends_with(end), "{copied} {end}");
    let copied = succeeds(&["verify", "--data-directory", back]);
    assert!(copied.ends_with(end), "{copied} {end}");

    let other = folder.path().join("other");
    let store = EmbeddedStore::open(&other).unwrap();
    store.append(vec![candidate(1)], vec![]).await.unwrap();
    store.close().await;
    let other = other.to_str().unwrap();
    let refused = program(&["copy", "--from", other, "--to", &url]);
    let refused = { refused }.output().unwrap();
    assert!(!refused.status.success());
    assert!(
        said(&refused).contains("another store"),
        "{}",
        said(&refused)
    );
}
