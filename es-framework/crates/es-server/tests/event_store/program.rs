//! The program `event-store`, started with the flags of the official server.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, ChildStderr, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use es_event::{EventCandidate, Subject};
use es_store::{EventLog as _, ReadOptions, StoreCatalog as _};
use es_store_client::{ClientSettings, EventSourcingDbStore};
use futures_util::TryStreamExt as _;
use serde_json::value::RawValue;

const TOKEN: &str = "very-secret-token";

/// The flags of the real event store.
const OFFICIAL: [&str; 8] = [
    "run",
    "--api-token",
    TOKEN,
    "--data-directory-temporary",
    "--http-enabled",
    "--https-enabled=false",
    "--http-port",
    "0",
];

struct StartedProgram {
    child: Child,
    url: String,
    log: BufReader<ChildStderr>,
}

impl Drop for StartedProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_event-store"));
    command
        .args(arguments)
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

fn start(mut command: Command) -> StartedProgram {
    let mut child = command.spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("listening on http://") {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "it did not start");
    }
    let (_, address) = line.trim_end().rsplit_once("http://").unwrap();
    let url = format!("http://{address}");
    StartedProgram { child, url, log }
}

impl StartedProgram {
    fn end(&mut self, signal: &str) -> ExitStatus {
        let pid = self.child.id().to_string();
        let mut kill = Command::new("sh");
        kill.args(["-c", "kill $0 $1", signal, &pid]);
        assert!(kill.status().unwrap().success());
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "it does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn rest_of_log(&mut self) -> String {
        let mut text = String::new();
        self.log.read_to_string(&mut text).unwrap();
        text
    }
}

/// Returns the exit code and the log of a failed start.
fn failed(arguments: &[&str]) -> (Option<i32>, String) {
    let output = command(arguments).output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), log)
}

async fn use_it(url: &str) {
    let store = EventSourcingDbStore::new(ClientSettings::new(url, TOKEN)).unwrap();
    store.health().await.unwrap();
    let candidate = EventCandidate {
        source: "tag:library-service".into(),
        subject: "/books/42".parse().unwrap(),
        event_type: "com.example.library.BookPurchasedEvent".parse().unwrap(),
        data: RawValue::from_string(r#"{"metadata":{},"payload":{}}"#.into()).unwrap(),
        trace: None,
    };
    let written = store.append(vec![candidate], vec![]).await.unwrap();
    let read = store.read(Subject::root(), ReadOptions::recursive());
    let read: Vec<_> = read.try_collect().await.unwrap();
    assert_eq!(read.len(), 1);
    assert_eq!(read[0].hash, written[0].hash);
}

#[tokio::test]
async fn it_starts_with_the_official_flags_and_ends_on_a_signal() {
    for signal in ["-TERM", "-INT"] {
        let mut running = start(command(&OFFICIAL));
        use_it(&running.url).await;
        assert_eq!(running.end(signal).code(), Some(0));
        let log = running.rest_of_log();
        assert!(log.contains("stopped") && !log.contains(TOKEN), "{log}");
    }
}

#[tokio::test]
async fn it_takes_its_settings_from_the_environment_as_well() {
    let mut command = command(&["run", "--http-enabled=true"]);
    command
        .env("EVENT_STORE_API_TOKEN", TOKEN)
        .env("EVENT_STORE_DATA_DIRECTORY_TEMPORARY", "true")
        .env("EVENT_STORE_HTTP_PORT", "0")
        .env("EVENT_STORE_DIALECT", "event");
    let running = start(command);
    use_it(&running.url).await;
}

#[test]
fn what_cannot_be_served_stops_the_start_with_a_sentence() {
    let run = |last: &[&'static str]| {
        let common = ["run", "--api-token", TOKEN, "--http-port=0"];
        failed(&[&common[..], last].concat())
    };
    let temporary = "--data-directory-temporary";
    for (arguments, expected) in [
        (&[temporary, "--https-enabled"][..], "HTTPS is not served"),
        (&[temporary, "--https-enabled=true"], "HTTPS is not served"),
        (&[temporary, "--http-enabled=false"], "nothing to serve"),
        (&[temporary, "--dialect=newest"], "'newest'"),
        (&[temporary, "--hash-version=3"], "1 or 2"),
        (&[temporary, "--hash-version=2"], "needs --dialect event"),
        (&[temporary, "--http-host=nowhere"], "'nowhere'"),
        (&[temporary, "--signing-key-file=/no/file"], "/no/file"),
        (&[temporary, "--data-directory=/tmp"], "cannot be used with"),
        (&[], "say where the events are kept"),
    ] {
        let (code, log) = run(arguments);
        assert!(code.is_some_and(|code| code != 0), "{arguments:?}");
        assert!(log.contains(expected) && !log.contains(TOKEN), "{log}");
    }
}

#[test]
fn a_token_that_no_header_can_carry_stops_the_start_unseen() {
    let bad = "two secret words";
    let (code, log) = failed(&["run", "--api-token", bad, "--data-directory-temporary"]);
    assert!(code.is_some_and(|code| code != 0));
    assert!(
        log.contains("API token") && !log.contains("secret"),
        "{log}"
    );
    let (code, log) = failed(&["run", "--data-directory-temporary"]);
    assert!(code.is_some_and(|code| code != 0));
    assert!(log.contains("--api-token"), "{log}");
}

#[test]
fn a_port_that_is_taken_stops_the_start() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = format!("--http-port={}", taken.local_addr().unwrap().port());
    let temporary = "--data-directory-temporary";
    let (code, log) = failed(&["run", "--api-token", TOKEN, temporary, &port]);
    assert_eq!(code, Some(1));
    assert!(log.contains("cannot listen on http://127.0.0.1"), "{log}");
}
