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
pub(crate) mod live_query;
pub(crate) mod machines;
pub(crate) mod memory;
pub(crate) mod node_environment;
#[path = "../../../../es-framework/tests/support/package_fetch.rs"]
pub(crate) mod package_fetch;
#[allow(dead_code, reason = "the library uses a part of it")]
#[path = "../../../../es-framework/tests/support/postgres_server.rs"]
pub(crate) mod postgres_server;
#[path = "../../../../es-framework/tests/support/python_environment.rs"]
pub(crate) mod python_environment;
pub(crate) mod raw_http;
#[path = "../../../../es-framework/tests/support/requirement.rs"]
pub(crate) mod requirement;
pub(crate) mod route_catalog;
pub(crate) mod trace_collector;

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, OnceLock, mpsc},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use es_framework::event::{EventCandidate, Hash, Metadata, RecordedEvent, StreamLine, encode};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

pub(crate) use event_store_process::{event_store_program, start_event_store};
pub(crate) use eventually::{PATIENCE, eventually};

/// The token of every event store that a test starts.
pub(crate) const TOKEN: &str = "test-token-0123456789";

/// A running program whose log is kept.
pub(crate) struct Process {
    child: Child,
    log: Arc<Mutex<String>>,
    /// The thread that keeps the log.
    reading: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts a program and waits until its log says where it listens, once for each mark.
    pub(crate) fn start<const N: usize>(
        command: &mut Command,
        marks: [&str; N],
    ) -> (Self, [String; N]) {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let stderr = child.stderr.take().expect("stderr is piped");
        let log = Arc::new(Mutex::new(String::new()));
        let (sender, lines) = mpsc::channel();
        let kept = Arc::clone(&log);
        let reading = std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                kept.lock().unwrap().push_str(&format!("{line}\n"));
                let _ = sender.send(line);
            }
        });
        let reading = Some(reading);
        let mut process = Self {
            child,
            log,
            reading,
        };
        let mut addresses = [const { None }; N];
        while addresses.iter().any(Option::is_none) {
            let line = match lines.recv_timeout(PATIENCE) {
                Ok(line) => line,
                Err(error) => {
                    process.kill();
                    panic!("the program does not come up ({error}):\n{}", process.log());
                }
            };
            for (mark, address) in marks.iter().zip(&mut addresses) {
                let rest = line.split_once(mark).map(|(_, rest)| rest);
                if let Some((rest, begin)) = rest.and_then(|rest| Some((rest, rest.find("http")?)))
                {
                    let url = &rest[begin..];
                    let end = url.find([' ', ',', '"']).unwrap_or(url.len());
                    *address = Some(url[..end].to_owned());
                }
            }
        }
        (process, addresses.map(Option::unwrap))
    }

    /// Kills the program, like a power failure.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Sends a signal to the program, such as `-STOP`.
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let mut kill = Command::new("sh");
        kill.args(["-c", "kill $0 $1", signal, &id])
            .status()
            .unwrap();
    }

    /// Asks the program to end.
    pub(crate) fn terminate(&self) {
        self.signal("-TERM");
    }

    /// Terminates the program and returns its exit status.
    pub(crate) fn stop(self) -> std::process::ExitStatus {
        self.terminate();
        self.ended().0
    }

    /// Waits for the end of a terminated program; returns its exit status and its log.
    pub(crate) fn ended(mut self) -> (std::process::ExitStatus, String) {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                if let Some(reading) = self.reading.take() {
                    reading.join().unwrap();
                }
                return (status, self.log());
            }
            assert!(
                begin.elapsed() < PATIENCE,
                "the program does not stop:\n{}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the log once it stops growing for a moment, because the process writes it in another
    /// thread.
    pub(crate) fn log(&self) -> String {
        let read = || self.log.lock().unwrap().clone();
        let mut log = read();
        for _ in 0..50 {
            std::thread::sleep(Duration::from_millis(100));
            let now = read();
            if now.len() == log.len() {
                break;
            }
            log = now;
        }
        log
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

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
    ] {
        command.env_remove(setting);
    }
    command
        .env("HTTP_PORT", "0")
        .env("EVENT_STORE_API_TOKEN", TOKEN)
        .env("KEY_STORE_URL", key_store_url());
    command
}

/// The key store of all libraries of this run, so that several of them can share an event store.
fn key_store_url() -> String {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().unwrap());
    format!("sqlite:{}", folder.path().join("keys.sqlite").display())
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

/// The event of a purchase, for a store that is filled without the library.
pub(crate) fn purchased(id: Uuid, book: &Value) -> EventCandidate {
    EventCandidate {
        source: "library-service".into(),
        subject: format!("/books/{id}").parse().unwrap(),
        event_type: "com.example.library.BookPurchasedEvent".parse().unwrap(),
        data: encode(&Metadata::default(), book).unwrap(),
        trace: None,
    }
}

/// Returns a new client with its own connections.
pub(crate) fn new_client() -> reqwest::ClientBuilder {
    // Fails if a provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // To read the certificates of the system takes longer than most tests. No test trusts them.
    reqwest::Client::builder()
        .no_proxy()
        .tls_certs_only([])
        .timeout(PATIENCE)
}

pub(crate) fn client() -> &'static reqwest::Client {
    static CLIENT: OnceLock<reqwest::Client> = OnceLock::new();
    // A connection that a killed server left behind must not fail the next request, nor may one
    // that belongs to another test's runtime.
    CLIENT.get_or_init(|| new_client().pool_max_idle_per_host(0).build().unwrap())
}

pub(crate) async fn post(url: &str, body: impl Into<reqwest::Body>) -> Response {
    let request = client()
        .post(url)
        .header("content-type", "application/json");
    request.body(body).send().await.unwrap()
}

pub(crate) async fn get(url: &str) -> Response {
    client().get(url).send().await.unwrap()
}

pub(crate) async fn json_of(answer: Response) -> Value {
    serde_json::from_str(&answer.text().await.unwrap()).unwrap()
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
