//! A program in a process of its own.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, mpsc},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use super::eventually::PATIENCE;

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
