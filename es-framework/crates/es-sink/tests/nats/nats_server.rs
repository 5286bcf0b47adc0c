//! A NATS server with JetStream, in a folder and on a port of its own.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use async_nats::jetstream::{self, message::StreamMessage, stream};
use es_sink::NatsSettings;
use tempfile::TempDir;

use crate::requirement::require_program;

/// Debian installs the program outside of the path of most users.
const PROGRAMS: [&str; 2] = ["/usr/sbin/nats-server", "nats-server"];
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct NatsServer {
    folder: TempDir,
    port: u16,
    options: Vec<String>,
    process: Option<Child>,
}

impl NatsServer {
    /// Starts a server, or reports that the test needs the program.
    #[track_caller]
    pub(crate) fn start(options: &[&str]) -> Option<Self> {
        let mut server = Self::stopped(options)?;
        server.restart();
        Some(server)
    }

    /// Prepares a server that does not run yet.
    #[track_caller]
    pub(crate) fn stopped(options: &[&str]) -> Option<Self> {
        if !require_program(program(), "nats-server") {
            return None;
        }
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        Some(Self {
            folder: tempfile::tempdir().unwrap(),
            port: free.local_addr().unwrap().port(),
            options: options.iter().map(|&option| option.to_owned()).collect(),
            process: None,
        })
    }

    pub(crate) fn add_options(&mut self, options: &[&str]) {
        let options = options.iter().map(|&option| option.to_owned());
        self.options.extend(options);
    }

    pub(crate) fn restart(&mut self) {
        let log = fs::File::create(self.file("log")).unwrap();
        let mut command = Command::new(program());
        command
            .args(["-a", "127.0.0.1", "-p", &self.port.to_string(), "-js"])
            .arg("-sd")
            .arg(self.folder.path())
            .args(&self.options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        let process = self.process.insert(command.spawn().unwrap());
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let ended = process.try_wait().unwrap();
            let log = fs::read_to_string(self.folder.path().join("log")).unwrap();
            assert!(ended.is_none() && begin.elapsed() < PATIENCE, "{log}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Kills the server, like a power failure.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Sends a signal to the server, such as `-CONT`.
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.process.as_ref().unwrap().id().to_string();
        let mut kill = Command::new("sh");
        kill.args(["-c", "kill $0 $1", signal, &id]);
        assert!(kill.status().unwrap().success());
    }

    /// Stops the server without ending it, and waits until none of its threads runs any more.
    pub(crate) fn pause(&self) {
        self.signal("-STOP");
        let threads = format!("/proc/{}/task", self.process.as_ref().unwrap().id());
        let runs = |thread: std::path::PathBuf| {
            let stat = std::fs::read_to_string(thread.join("stat")).unwrap();
            !stat.rsplit(')').next().unwrap().starts_with(" T")
        };
        while std::fs::read_dir(&threads)
            .unwrap()
            .any(|thread| runs(thread.unwrap().path()))
        {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    pub(crate) fn file(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file that only its owner can read.
    pub(crate) fn write_secret(&self, name: &str, text: &str) -> std::path::PathBuf {
        write_secret(&self.file(name), text);
        self.file(name)
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://localhost:{}", self.port)
    }

    pub(crate) fn settings(&self) -> NatsSettings {
        NatsSettings {
            servers: self.url(),
            subject: "library".to_owned(),
            ..NatsSettings::default()
        }
    }

    /// Adds the stream of all events, as an operator does.
    pub(crate) async fn add_stream(&self, options: async_nats::ConnectOptions) -> EventStream {
        let client = options.connect(self.url()).await.unwrap();
        let stream = stream::Config {
            name: "events".to_owned(),
            subjects: vec!["library.>".to_owned()],
            ..stream::Config::default()
        };
        let jetstream = jetstream::new(client);
        EventStream(jetstream.get_or_create_stream(stream).await.unwrap())
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The stream that takes the events.
pub(crate) struct EventStream(stream::Stream);

impl EventStream {
    /// Returns all messages in their order.
    pub(crate) async fn messages(&self) -> Vec<StreamMessage> {
        let count = self.0.get_info().await.unwrap().state.last_sequence;
        let mut messages = Vec::new();
        for sequence in 1..=count {
            messages.push(self.0.get_raw_message(sequence).await.unwrap());
        }
        messages
    }

    /// Returns the ids of all messages in their order.
    pub(crate) async fn ids(&self) -> Vec<String> {
        let messages = self.messages().await;
        let ids = messages
            .iter()
            .map(|message| message.headers.get("Nats-Msg-Id").unwrap().to_string());
        ids.collect()
    }
}

fn program() -> &'static str {
    let mut programs = PROGRAMS.into_iter();
    let installed = programs.find(|program| Path::new(program).exists());
    installed.unwrap_or("nats-server")
}

fn write_secret(file: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(file, text).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
}
