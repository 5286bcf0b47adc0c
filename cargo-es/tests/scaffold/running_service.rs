//! A generated application that runs.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use crate::cargo::target_directory;

/// The process, which ends with this value.
pub(crate) struct RunningService {
    child: Child,
    /// The host and the port.
    pub(crate) address: String,
}

impl Drop for RunningService {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl RunningService {
    /// Starts the program that Cargo has built for the package of this name, and waits until it listens.
    pub(crate) fn start(folder: &Path, name: &str) -> Self {
        let mut child = Command::new(target_directory().join("debug").join(name))
            .env("HTTP_PORT", "0")
            .env_remove("RUST_LOG")
            .current_dir(folder)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mark = format!("{name} listens on http://");
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let after_mark = |line: String| line.split_once(&mark).map(|(_, rest)| rest.to_owned());
        let address = log.find_map(|line| after_mark(line.unwrap())).unwrap();
        // A full pipe would block the process.
        std::thread::spawn(move || log.for_each(drop));
        Self { child, address }
    }
}
