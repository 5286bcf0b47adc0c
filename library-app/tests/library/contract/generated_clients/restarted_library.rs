//! A library that a walk-through has killed while it sends commands.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    sync::mpsc,
};

use crate::support::{Library, PATIENCE, machines::unused_port};
use tempfile::TempDir;
use uuid::Uuid;

/// The line with which a walk-through asks for the restart.
const KILL: &str = "kill the service";

/// A library on one port and one data folder, however often it starts.
pub(super) struct RestartedLibrary {
    folder: TempDir,
    port: String,
    library: Library,
}

impl RestartedLibrary {
    pub(super) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = unused_port().to_string();
        let library = start_on(&folder, &port);
        Self {
            folder,
            port,
            library,
        }
    }

    pub(super) fn url(&self) -> &str {
        &self.library.url
    }

    /// Runs a walk-through, and kills and starts the library when it says so. Each command of the walk-through
    /// was carried out once.
    pub(super) async fn run_walkthrough(&mut self, walkthrough: &mut Command) {
        let purchased = self.purchases_of(walkthrough);
        let mut expected = BTreeMap::from([
            ("BookBorrowedEvent", 1),
            ("BookReturnedEvent", 1),
            ("ReaderRegisteredEvent", 2),
        ]);
        expected.insert("BookPurchasedEvent", purchased.len());
        let stored = self.library.stored_events().await;
        let mut copies = Vec::new();
        let mut counts = BTreeMap::new();
        for event in &stored {
            let name = event.event_type.as_str().rsplit('.').next().unwrap();
            if name == "BookPurchasedEvent" {
                let id = event.subject.as_str().trim_start_matches("/books/");
                copies.push(id.parse::<Uuid>().unwrap());
            }
            if expected.contains_key(name) {
                *counts.entry(name).or_insert(0) += 1;
            }
        }
        copies.sort();
        assert_eq!(copies, purchased);
        assert_eq!(counts, expected);
    }

    /// The sorted copies that the walk-through has purchased.
    fn purchases_of(&mut self, walkthrough: &mut Command) -> Vec<Uuid> {
        let errors = self.folder.path().join("errors");
        walkthrough
            .arg(self.url())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&errors).unwrap());
        let mut program = walkthrough.spawn().unwrap();
        let output = BufReader::new(program.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        let reading = std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let mut restarts = 0;
        let mut last = String::new();
        loop {
            match lines.recv_timeout(PATIENCE) {
                Ok(line) if line == KILL => {
                    self.library.process.kill();
                    self.library = start_on(&self.folder, &self.port);
                    restarts += 1;
                }
                Ok(line) => last = line,
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    program.kill().unwrap();
                    break;
                }
            }
        }
        reading.join().unwrap();
        let is_complete = program.wait().unwrap().success();
        let errors = fs::read_to_string(errors).unwrap();
        assert!(is_complete, "{last}\n{errors}");
        assert_eq!(restarts, 1);
        let mut purchased: Vec<_> = serde_json::from_str(&last).unwrap();
        purchased.sort();
        purchased
    }
}

fn start_on(folder: &TempDir, port: &str) -> Library {
    Library::embedded_with(&folder.path().join("data"), &[("HTTP_PORT", port)])
}
