//! A process of the program `event-store` that ends with the test.

use std::{
    env,
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, ChildStderr, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// Returns the path of the program. Cargo, or who runs it for a package elsewhere, sets the variable. A benchmark of
/// another package takes the program that `cargo build --release --package es-server` left beside its own folder.
pub fn program() -> PathBuf {
    match option_env!("CARGO_BIN_EXE_event-store") {
        Some(path) => path.into(),
        None => {
            let benchmark = env::current_exe().unwrap();
            let folder = benchmark.ancestors().nth(2).unwrap();
            folder.join("event-store")
        }
    }
}

pub const TOKEN: &str = "very-secret-token";

pub struct ServerProcess {
    child: Child,
    pub url: String,
    // The pipe stays open while the server runs, because a closed pipe would end the server.
    _log: BufReader<ChildStderr>,
}

impl ServerProcess {
    /// Starts a server with a temporary directory and these additional arguments.
    pub fn temporary(arguments: &[&str]) -> Self {
        Self::start(&[&["--data-directory-temporary", "--http-port=0"], arguments].concat())
    }

    /// Starts a server with only these arguments and the token.
    pub fn start(arguments: &[&str]) -> Self {
        Self::run(Command::new(program()), arguments)
    }

    /// Starts a server with a temporary directory and at most this many KiB of address space.
    pub fn temporary_within(kib: u64) -> Self {
        let mut shell = Command::new("sh");
        let script = format!("ulimit -v {kib}; exec \"$0\" \"$@\"");
        shell.args(["-c", &script]).arg(program());
        Self::run(shell, &["--data-directory-temporary", "--http-port=0"])
    }

    fn run(mut command: Command, arguments: &[&str]) -> Self {
        let mut child = command
            .args(["run", "--api-token", TOKEN])
            .args(arguments)
            .env("RUST_LOG", "info")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("listening on http://") {
            line.clear();
            assert!(log.read_line(&mut line).unwrap() > 0, "it did not start");
        }
        let (_, address) = line.trim_end().rsplit_once("http://").unwrap();
        let url = format!("http://{address}");
        Self {
            child,
            url,
            _log: log,
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn port(&self) -> &str {
        self.url.rsplit_once(':').unwrap().1
    }

    /// Asks it to end. Returns once it has ended.
    pub fn terminate(mut self) {
        let pid = self.pid().to_string();
        let mut kill = Command::new("sh");
        kill.args(["-c", "kill -TERM $0", &pid]);
        assert!(kill.status().unwrap().success());
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "it does not end");
            sleep(Duration::from_millis(20));
        };
        assert!(status.success(), "{status}");
    }

    /// Kills the server, like a crash.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
