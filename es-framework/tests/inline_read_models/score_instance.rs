//! A process that runs the score board. It is this test program, started again with one test.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    process::{Child, ChildStdout, Command, Stdio},
};

use es_framework::{App, Settings, telemetry};
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::support::eventually::eventually;

/// The test that serves requests in the process.
const SERVE: &str = "score_instance::an_instance_serves_requests";
const LISTENS: &str = "the score board listens on ";
const TOKEN: &str = "very-secret-token";

const EVENTS: &str = "SCORE_BOARD_EVENTS";
const ROWS: &str = "SCORE_BOARD_ROWS";
const FOLDER: &str = "SCORE_BOARD_FOLDER";

/// The part of a started program. In a normal run of the tests, there is nothing to serve.
#[test]
fn an_instance_serves_requests() {
    let Ok(rows) = env::var(ROWS) else { return };
    let settings = Settings::default()
        .event_store_url(env::var(EVENTS).ok().map(Into::into))
        .event_store_api_token(Some(TOKEN.parse().unwrap()))
        .event_store_data_dir(env::var(FOLDER).unwrap().into())
        .event_store_port(0)
        .database_url(rows.parse().unwrap());
    let _log = telemetry::Telemetry::start(
        "scores",
        &telemetry::TelemetrySettings {
            log_format: settings.log_format,
            log_filter: settings.log_filter.clone(),
            otel_exporter_otlp_endpoint: None,
        },
    );
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let app = App::new("scores").settings(settings);
        let application = app.build().await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("{LISTENS}http://{}", listener.local_addr().unwrap());
        application.serve(listener).await.unwrap();
    });
}

/// A running instance, killed when this is dropped.
pub(super) struct ScoreInstance {
    child: Child,
    url: String,
    client: Client,
    folder: TempDir,
    // The pipe stays open while the process runs.
    _output: BufReader<ChildStdout>,
}

impl ScoreInstance {
    /// Starts an instance. Without a URL of the events, these are embedded.
    pub(super) fn start(events: Option<&str>, rows: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let mut command = Command::new(env::current_exe().unwrap());
        command.args([SERVE, "--exact", "--nocapture"]);
        command.env(ROWS, rows).env(FOLDER, folder.path());
        if let Some(events) = events {
            command.env(EVENTS, events);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.stderr(log).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains(LISTENS) {
            line.clear();
            let is_open = output.read_line(&mut line).unwrap() > 0;
            let log = fs::read_to_string(folder.path().join("log"));
            assert!(is_open, "it did not start: {log:?}");
        }
        let (_, url) = line.trim_end().rsplit_once(LISTENS).unwrap();
        Self {
            child,
            url: url.to_owned(),
            client: client(),
            folder,
            _output: output,
        }
    }

    /// Starts an instance and waits until its read model answers.
    pub(super) async fn start_ready(events: Option<&str>, rows: &str) -> Self {
        let instance = Self::start(events, rows);
        eventually("the read model answers", async || {
            let found = instance.try_find("nobody", None).await.unwrap();
            (found.status() == StatusCode::NOT_FOUND).then_some(())
        })
        .await;
        instance
    }

    /// Waits until the log contains a sentence.
    pub(super) async fn await_log(&self, sentence: &str) {
        eventually(sentence, async || {
            let log = fs::read_to_string(self.folder.path().join("log")).unwrap();
            log.contains(sentence).then_some(())
        })
        .await;
    }

    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Kills the process, like a crash.
    pub(super) fn kill_process(process: u32) {
        let mut kill = Command::new("sh");
        kill.args(["-c", "kill -KILL $0", &process.to_string()]);
        assert!(kill.status().unwrap().success());
    }

    pub(super) fn await_end(&mut self) {
        self.child.wait().unwrap();
    }

    /// Sends a command. Fails if the instance is killed.
    pub(super) async fn try_add(&self, id: &str, points: i64) -> reqwest::Result<Response> {
        let request = self.client.post(format!("{}/scores/add", self.url));
        let request = request.header("content-type", "application/json");
        let body = json!({ "id": id, "points": points }).to_string();
        request.body(body).send().await
    }

    /// Sends a command and returns the position of its event.
    pub(super) async fn add(&self, id: &str, points: i64) -> String {
        let added = self.try_add(id, points).await.unwrap();
        let position = added.headers().get("event-position").cloned();
        let (status, text) = (added.status(), added.text().await.unwrap());
        assert!(status.is_success(), "{status}: {text}");
        position.unwrap().to_str().unwrap().to_owned()
    }

    pub(super) async fn try_find(
        &self,
        id: &str,
        position: Option<&str>,
    ) -> reqwest::Result<Response> {
        let mut request = self.client.get(format!("{}/scores/{id}", self.url));
        if let Some(position) = position {
            request = request.header("event-position", position);
        }
        request.send().await
    }

    /// Returns the total of a score, or 0 if there is no row.
    pub(super) async fn total(&self, id: &str, position: Option<&str>) -> i64 {
        let found = self.try_find(id, position).await.unwrap();
        let (status, text) = (found.status(), found.text().await.unwrap());
        if status == StatusCode::NOT_FOUND {
            return 0;
        }
        assert_eq!(status, StatusCode::OK, "{text}");
        let row: Value = serde_json::from_str(&text).unwrap();
        row["total"].as_i64().unwrap()
    }

    /// Sends a command of an operator to the read model. Returns false if another instance keeps it up to
    /// date.
    pub(super) async fn operate(&self, command: &str) -> bool {
        let url = format!("{}/actuator/projections/scores/{command}", self.url);
        let sent = self.client.post(url).bearer_auth(TOKEN).send();
        let status = sent.await.unwrap().status();
        assert!(matches!(status, StatusCode::OK | StatusCode::CONFLICT));
        status == StatusCode::OK
    }

    /// Returns the state of the read model that the health check reports.
    pub(super) async fn health(&self) -> String {
        let url = format!("{}/actuator/health", self.url);
        let health = self.client.get(url).send().await.unwrap();
        health.text().await.unwrap()
    }
}

impl Drop for ScoreInstance {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// reqwest wants a provider of cryptography, although nothing here uses TLS.
fn client() -> Client {
    // A second call changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::new()
}
