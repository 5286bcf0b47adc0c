//! Processes of the library and the event store, and requests to them.

pub(crate) mod accessibility;
pub(crate) mod browser;
#[path = "../../../../es-framework/tests/support/cargo.rs"]
pub(crate) mod cargo;
pub(crate) mod compose_file;
pub(crate) mod container_file;
mod event_store_process;
#[path = "../../../../es-framework/tests/support/eventually.rs"]
mod eventually;
#[path = "../../../../es-framework/tests/support/http_client.rs"]
mod http_client;
#[allow(dead_code, reason = "the library uses a part of it")]
#[path = "../../../../es-framework/tests/support/live_query.rs"]
pub(crate) mod live_query;
pub(crate) mod machines;
#[path = "../../../../es-framework/tests/support/memory.rs"]
pub(crate) mod memory;
pub(crate) mod node_environment;
#[path = "../../../../es-framework/tests/support/package_fetch.rs"]
pub(crate) mod package_fetch;
pub(crate) mod page_commands;
#[allow(dead_code, reason = "the library uses a part of it")]
#[path = "../../../../es-framework/tests/support/postgres_server.rs"]
pub(crate) mod postgres_server;
#[allow(dead_code, reason = "the library uses a part of it")]
#[path = "../../../../es-framework/tests/support/process.rs"]
mod process;
#[path = "../../../../es-framework/tests/support/python_environment.rs"]
pub(crate) mod python_environment;
#[path = "../../../../es-framework/tests/support/requirement.rs"]
pub(crate) mod requirement;
pub(crate) mod route_catalog;
#[path = "../../../../es-framework/tests/support/tls_identity.rs"]
pub(crate) mod tls_identity;

use std::{path::Path, process::Command, sync::OnceLock, thread};

use es_framework::event::{Hash, RecordedEvent, StreamLine};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

pub(crate) use event_store_process::{event_store_program, start_event_store};
pub(crate) use eventually::{PATIENCE, eventually};
pub(crate) use http_client::{client, get, json_of, new_client, post};
pub(crate) use process::Process;

/// The token of every event store that a test starts.
pub(crate) const TOKEN: &str = "test-token-0123456789";

/// The library service, and the event store that it uses.
pub(crate) struct Library {
    pub(crate) process: Process,
    pub(crate) url: String,
    pub(crate) store_url: String,
    /// The data folder of this instance, unless the test has one.
    _folder: Option<tempfile::TempDir>,
}

fn library_command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_library-app"));
    for setting in [
        "EVENT_STORE_URL",
        "EVENT_STORE_DIALECT",
        "EVENT_SOURCE",
        "RUST_LOG",
        "DATABASE_URL",
        "STATE_DATABASE_URL",
    ] {
        command.env_remove(setting);
    }
    command
        .env("HTTP_PORT", "0")
        .env("EVENT_STORE_API_TOKEN", TOKEN)
        .env("KEY_STORE_URL", key_store_url());
    command
}

/// The key store of all libraries of a test, so that several of them can share an event store. A thread has the name of
/// its test.
fn key_store_url() -> String {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().unwrap());
    let test = thread::current().name().unwrap_or("keys").replace(':', "-");
    let file = folder.path().join(test).with_extension("sqlite");
    format!("sqlite:{}", file.display())
}

impl Library {
    /// Starts the library with its embedded event store in `folder`.
    pub(crate) fn embedded(folder: &Path) -> Self {
        Self::embedded_with(folder, &[])
    }

    /// The same with settings of its own.
    pub(crate) fn embedded_with(folder: &Path, settings: &[(&str, &str)]) -> Self {
        let mut command = library_command();
        command
            .envs(settings.iter().copied())
            .env("EVENT_STORE_PORT", "0")
            .env("EVENT_STORE_DATA_DIR", folder);
        let marks = ["library-service listens on", "event store listens on"];
        let (process, [url, store_url]) = Process::start(&mut command, marks);
        Self {
            process,
            url,
            store_url,
            _folder: None,
        }
    }

    /// Starts the library with an external event store.
    pub(crate) fn with_store(store_url: &str) -> Self {
        Self::with_store_and(store_url, &[])
    }

    /// The same with settings of its own.
    pub(crate) fn with_store_and(store_url: &str, settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = library_command();
        command.env("EVENT_STORE_DATA_DIR", folder.path());
        command.envs(settings.iter().copied());
        command.env("EVENT_STORE_URL", store_url);
        let (process, [url]) = Process::start(&mut command, ["library-service listens on"]);
        let store_url = store_url.to_owned();
        Self {
            process,
            url,
            store_url,
            _folder: Some(folder),
        }
    }

    /// Returns the link to the console that the start printed.
    pub(crate) fn console_link(&self) -> String {
        let log = self.process.log();
        let (_, link) = log.split_once("the console is at ").unwrap();
        let end = link.find([',', '\n']).unwrap();
        link[..end].to_owned()
    }

    /// Opens the link to the console, and returns the cookie of the browser's session.
    pub(crate) async fn open_console(&self) -> String {
        let browser = new_client().redirect(reqwest::redirect::Policy::none());
        let browser = browser.build().unwrap();
        let opened = browser.get(self.console_link()).send().await.unwrap();
        assert_eq!(opened.status(), StatusCode::SEE_OTHER);
        let cookie = opened.headers()["set-cookie"].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    pub(crate) async fn purchase(&self, book: &Value) -> Response {
        post(&format!("{}/books/purchase", self.url), book.to_string()).await
    }

    /// Runs a subcommand of the program against this process.
    pub(crate) fn subcommand(&self, arguments: &[&str]) -> std::process::Output {
        let port = self.url.rsplit(':').next().unwrap();
        let mut command = library_command();
        command.env("HTTP_PORT", port).args(arguments);
        command.output().expect("the program runs")
    }

    /// Runs a subcommand, asserts its success or failure, and returns its output.
    pub(crate) fn said(&self, arguments: &[&str], succeeds: bool) -> String {
        let output = self.subcommand(arguments);
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(output.status.success(), succeeds, "{arguments:?}: {text}");
        text
    }

    pub(crate) async fn health(&self) -> (StatusCode, Value) {
        let answer = get(&format!("{}/actuator/health", self.url)).await;
        (answer.status(), json_of(answer).await)
    }

    /// Everything in the event store, oldest first, as a client with the token reads it.
    pub(crate) async fn stored_lines(&self) -> Vec<Value> {
        let text = read_everything(&self.store_url).await;
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Everything in the event store, its chain checked from the first event on.
    pub(crate) async fn stored_events(&self) -> Vec<RecordedEvent> {
        let text = read_everything(&self.store_url).await;
        let mut predecessor = Hash::ZERO;
        let mut events = Vec::new();
        for (expected, line) in (0..).zip(text.lines()) {
            let StreamLine::Event(event) = StreamLine::parse(line.as_bytes()).unwrap() else {
                panic!("not an event: {line}");
            };
            assert_eq!(event.id.get(), expected, "ids have no gap");
            assert_eq!(event.verify(predecessor), Ok(()));
            predecessor = event.hash;
            events.push(*event);
        }
        events
    }
}

pub(crate) fn book(id: Uuid) -> Value {
    json!({
        "id": id,
        "isbn": "978-0-345-53943-1",
        "title": "The Lord of the Rings",
        "author": "J. R. R. Tolkien",
        "numPages": 1178,
    })
}

async fn read_everything(store_url: &str) -> String {
    let body = json!({ "subject": "/", "options": { "recursive": true } });
    let request = client()
        .post(format!("{store_url}/api/v1/read-events"))
        .bearer_auth(TOKEN)
        .header("content-type", "application/json")
        .body(body.to_string());
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    answer.text().await.unwrap()
}
