//! One of two instances makes each call of a reaction, and the other one takes over after a kill and after a
//! stop.

use std::{
    collections::HashSet,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use crate::{postgres_server::PostgresServer, processor_time::assert_idle};

const TOKEN: &str = "0123456789abcdef";
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that serves until it is dropped, and its data folder, unless the test has one.
struct Program(Child, Option<tempfile::TempDir>);

impl Program {
    /// Asks the program to stop.
    fn terminate(&self) {
        let id = self.0.id().to_string();
        let mut kill = Command::new("sh");
        kill.args(["-c", "kill -TERM $0", &id]).status().unwrap();
    }

    /// Waits until a program that was asked to stop has stopped in order.
    fn stopped(mut self) {
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a program and returns the text after this mark in its log.
fn start(command: &mut Command, mark: &str) -> (Program, String) {
    let started = command
        .env_remove("RUST_LOG")
        .env("EVENT_STORE_API_TOKEN", TOKEN)
        .args(["--http-port", "0"])
        .stderr(Stdio::piped())
        .spawn();
    let mut child = started.unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let address = log.find_map(|line| {
        let line = line.unwrap();
        let (_, address) = line.split_once(mark)?;
        Some(address.trim().to_owned())
    });
    // A full pipe would block the process.
    std::thread::spawn(move || log.for_each(drop));
    (Program(child, None), address.unwrap())
}

/// A received letter: its sender, its key, and the person to thank.
struct Letter {
    sender: u32,
    key: String,
    answer: TcpStream,
}

impl Letter {
    fn thank(mut self) -> String {
        self.answer.write_all(b"thanks\n").unwrap();
        self.key
    }
}

/// The other system: its address and the letters that it receives.
fn office() -> (String, Receiver<Letter>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (sender, letters) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let (process, key) = line.trim().split_once(' ').unwrap();
            let letter = Letter {
                sender: process.parse().unwrap(),
                key: key.to_owned(),
                answer: reader.into_inner(),
            };
            if sender.send(letter).is_err() {
                return;
            }
        }
    });
    (address, letters)
}

fn write_letter(address: &str, number: u32) {
    let id = format!("11111111-1111-4111-8111-{number:012}");
    let body = serde_json::json!({ "id": id }).to_string();
    let length = body.len();
    let request = format!(
        "POST /letters/write HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    let mut socket = TcpStream::connect(address).unwrap();
    socket.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
}

/// Starts an instance, which gives a running call this many seconds when it stops. Returns its address, too.
fn instance(stores: &[&str], office: &str, drain: &str) -> (Program, String) {
    let mut letters = Command::new(env!("CARGO_BIN_EXE_letters"));
    letters.args(stores).args(["--office", office]);
    letters.args(["--shutdown-timeout", drain]);
    let folder = tempfile::tempdir().unwrap();
    letters.arg("--event-store-data-dir").arg(folder.path());
    let (mut program, address) = start(&mut letters, "letters listens on http://");
    program.1 = Some(folder);
    (program, address)
}

#[test]
fn an_application_without_read_models_uses_no_processor_time_while_nothing_happens() {
    let folder = tempfile::tempdir().unwrap();
    let (office, _letters) = office();
    let mut letters = Command::new(env!("CARGO_BIN_EXE_letters"));
    letters.args(["--office", &office, "--event-store-port", "0"]);
    letters.arg("--event-store-data-dir").arg(folder.path());
    let (program, _) = start(&mut letters, "letters listens on http://");
    assert_idle(program.0.id(), Duration::from_secs(2), 20);
}

#[test]
fn one_of_two_instances_makes_each_call_and_the_other_one_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    // The embedded event store of any service accepts other clients.
    let mut orders = Command::new(env!("CARGO_BIN_EXE_orders"));
    orders.args(["--event-store-port", "0", "--event-store-data-dir"]);
    orders.arg(folder.path());
    let (_store, store) = start(&mut orders, "event store listens on ");
    let tasks = format!("sqlite:{}", folder.path().join("tasks.sqlite").display());
    let stores = ["--event-store-url", &store, "--state-database-url", &tasks];
    share_calls(&stores, 60);
}

#[test]
fn one_of_two_instances_on_postgresql_makes_each_call_and_the_other_one_after_a_kill() {
    if let Some(server) = PostgresServer::start() {
        share_calls(&["--event-store-url", &server.url()], 20);
    }
}

/// Starts two instances, which send letters. Kills the one that makes a call.
fn share_calls(stores: &[&str], count: u32) {
    let (office, letters) = office();
    let instance = || instance(stores, &office, "10");
    let (first, second) = (instance(), instance());

    for number in 0..count {
        write_letter(&first.1, number);
    }
    let next = || letters.recv_timeout(PATIENCE).unwrap();
    let keys: HashSet<_> = (0..count).map(|_| next().thank()).collect();
    assert_eq!(u32::try_from(keys.len()), Ok(count));

    write_letter(&first.1, count);
    let unanswered = next();
    let (killed, left) = if unanswered.sender == first.0.0.id() {
        (first, second)
    } else {
        (second, first)
    };
    assert_eq!(unanswered.sender, killed.0.0.id());
    // While the call runs, the other instance does not make it.
    assert!(letters.recv_timeout(Duration::from_secs(1)).is_err());
    // `Child::kill` is SIGKILL.
    drop(killed);
    let again = next();
    assert_eq!((again.sender, &again.key), (left.0.0.id(), &unanswered.key));
    assert!(!keys.contains(&again.thank()));

    // The other instance continues on its own, and no further letter arrives.
    write_letter(&left.1, count.wrapping_add(1));
    assert!(!keys.contains(&next().thank()));
    assert!(letters.recv_timeout(Duration::from_secs(1)).is_err());
}

#[test]
fn an_instance_that_stops_lets_its_call_end_and_leaves_the_others_to_another_instance() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let (url, (office, letters)) = (server.url(), office());
    let stores = ["--event-store-url", &url];
    let next = || letters.recv_timeout(PATIENCE).unwrap();
    let (first, second) = (
        instance(&stores, &office, "60"),
        instance(&stores, &office, "60"),
    );
    write_letter(&first.1, 0);
    let running = next();
    let (stopping, other) = if running.sender == first.0.0.id() {
        (first, second)
    } else {
        (second, first)
    };
    stopping.0.terminate();
    let first_key = running.thank();
    stopping.0.stopped();
    // The call has ended, so nobody repeats it.
    write_letter(&other.1, 1);
    let letter = next();
    assert_eq!(letter.sender, other.0.0.id());
    assert_ne!(letter.thank(), first_key);
    // Without a call, an instance stops at once.
    other.0.terminate();
    other.0.stopped();

    // A call that takes longer than the setting allows is cut off, and another instance makes it.
    let hasty = instance(&stores, &office, "1");
    write_letter(&hasty.1, 2);
    let cut_off = next();
    let other = instance(&stores, &office, "60");
    hasty.0.terminate();
    hasty.0.stopped();
    let again = next();
    assert_eq!((again.sender, &again.key), (other.0.0.id(), &cut_off.key));
    again.thank();
}
