//! The application of these tests in a process of its own. It is this test program, started again with one test.

use std::{env, path::Path, process::Command};

use es_framework::{
    App, Settings, metrics,
    telemetry::{Telemetry, TelemetrySettings},
};
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::{http_client::client, process::Process, running_service::TOKEN};

/// The test that serves requests in the process.
const SERVE: &str = "service_process::a_process_serves_requests";

/// Set in the process that serves requests.
const IS_STARTED: &str = "SERVICE_PROCESS";

/// The part of a started program. In a normal run of the tests, there is nothing to serve.
#[test]
fn a_process_serves_requests() {
    if env::var_os(IS_STARTED).is_none() {
        return;
    }
    let settings = Settings::from_env().unwrap();
    let telemetry = TelemetrySettings {
        log_format: settings.log_format,
        log_filter: settings.log_filter.clone(),
        otel_exporter_otlp_endpoint: settings.otel_exporter_otlp_endpoint.clone(),
    };
    let telemetry = Telemetry::start("library-service", &telemetry).unwrap();
    metrics::install();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let app = App::new("library-service").settings(settings);
        let application = app.build().await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        application.serve(listener).await.unwrap();
    });
    drop(runtime);
    telemetry.shut_down();
}

/// A running process, killed when this is dropped.
pub(crate) struct ServiceProcess {
    pub(crate) process: Process,
    pub(crate) url: String,
    /// The address of the embedded event store; empty if the events are elsewhere.
    pub(crate) store_url: String,
    _folder: Option<TempDir>,
}

impl ServiceProcess {
    /// Starts a process with settings as environment variables, by default with an embedded event store.
    pub(crate) fn start(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::start_in(&folder.path().join("data"), settings, Some(folder))
    }

    /// The same with the data in this folder.
    pub(crate) fn start_on_data(data: &Path, settings: &[(&str, &str)]) -> Self {
        Self::start_in(data, settings, None)
    }

    /// Starts a process whose events and read models are in this database.
    pub(crate) fn start_on_postgres(url: &str) -> Self {
        Self::start(&[("EVENT_STORE_URL", url), ("DATABASE_URL", url)])
    }

    fn start_in(data: &Path, settings: &[(&str, &str)], folder: Option<TempDir>) -> Self {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args([SERVE, "--exact", "--nocapture"]);
        for variable in [
            "RUST_LOG",
            "EVENT_STORE_URL",
            "DATABASE_URL",
            "STATE_DATABASE_URL",
        ] {
            command.env_remove(variable);
        }
        command
            .env(IS_STARTED, "1")
            .env("EVENT_STORE_API_TOKEN", TOKEN)
            .env("EVENT_STORE_PORT", "0")
            .env("EVENT_STORE_DATA_DIR", data)
            .envs(settings.iter().copied());
        let service = "library-service listens on";
        let is_embedded = !settings.iter().any(|(name, _)| *name == "EVENT_STORE_URL");
        let (process, [url, store_url]) = if is_embedded {
            Process::start(&mut command, [service, "event store listens on"])
        } else {
            let (process, [url]) = Process::start(&mut command, [service]);
            (process, [url, String::new()])
        };
        Self {
            process,
            url,
            store_url,
            _folder: folder,
        }
    }

    /// Returns all events, one in each line.
    pub(crate) async fn stored_lines(&self) -> String {
        let request = client().post(format!("{}/api/v1/read-events", self.store_url));
        let request = request.bearer_auth(TOKEN);
        let everything = r#"{"subject":"/","options":{"recursive":true}}"#;
        let answer = request.body(everything).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.text().await.unwrap()
    }
}
