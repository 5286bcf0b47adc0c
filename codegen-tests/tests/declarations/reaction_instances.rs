//! One of two instances makes each call of a reaction, and the other one takes over after a kill.

use std::{
    collections::HashSet,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

const TOKEN: &str = "0123456789abcdef";
const LETTERS: u32 = 200;
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that serves until it is dropped.
struct Program(Child);

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
    (Program(child), address.unwrap())
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

#[test]
fn one_of_two_instances_makes_each_call_and_the_other_one_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    // The embedded event store of any service accepts other clients.
    let mut orders = Command::new(env!("CARGO_BIN_EXE_orders"));
    orders.args(["--event-store-port", "0", "--event-store-data-dir"]);
    orders.arg(folder.path());
    let (_store, store) = start(&mut orders, "event store listens on ");
    let (office, letters) = office();
    let instance = || {
        let mut letters = Command::new(env!("CARGO_BIN_EXE_letters"));
        letters.args(["--event-store-url", &store, "--office", &office]);
        start(&mut letters, "letters listens on http://")
    };
    let (first, second) = (instance(), instance());

    for number in 0..LETTERS {
        write_letter(&first.1, number);
    }
    let next = || letters.recv_timeout(PATIENCE).unwrap();
    let keys: HashSet<_> = (0..LETTERS).map(|_| next().thank()).collect();
    assert_eq!(keys.len(), 200);

    write_letter(&first.1, LETTERS);
    let unanswered = next();
    let (killed, left) = match unanswered.sender == first.0.0.id() {
        true => (first, second),
        false => (second, first),
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
    write_letter(&left.1, LETTERS.wrapping_add(1));
    assert!(!keys.contains(&next().thank()));
    assert!(letters.recv_timeout(Duration::from_secs(1)).is_err());
}
