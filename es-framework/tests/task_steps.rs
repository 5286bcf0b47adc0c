//! A process that ends at each step of a task: the next one goes on, and repeats a call only if it cannot know that it was made.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

#[path = "support/mod.rs"]
mod support;

use std::{
    env,
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio, abort},
    thread,
    time::Duration,
};

use es_framework::{App, Settings, prelude::*};
use rusqlite::Connection;
use serde_json::json;
use tokio::net::TcpListener;

use support::eventually::eventually;

const FOLDER: &str = "TASKS_FOLDER";
/// The step at which the process ends or locks the state database. Without it, the process runs on.
const STEP: &str = "TASKS_STEP";
/// The letter that the process orders before it serves.
const ORDER: &str = "TASKS_ORDER";
/// It is longer than a statement waits for a lock.
const LOCKED: Duration = Duration::from_secs(12);

#[derive(Command)]
#[command(subject = "/letters/{id}")]
struct OrderLetterCommand {
    id: u32,
}

#[derive(Event)]
#[event(from = OrderLetterCommand)]
struct LetterOrderedEvent {
    id: u32,
}

#[handler]
fn order(command: OrderLetterCommand) -> LetterOrderedEvent;

/// The other system, which notes the key of each letter that it prints.
#[derive(Service)]
struct Printer(PathBuf);

impl Printer {
    fn print(&self, key: &str) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(letters(&self.0))?;
        file.write_all(format!("{key}\n").as_bytes())
    }
}

struct LetterPrinter;

#[reaction]
impl LetterPrinter {
    async fn print(
        _: &LetterOrderedEvent,
        key: &ReactionKey,
        printer: &Printer,
    ) -> Result<(), io::Error> {
        end_at("begun");
        printer.print(key.as_str())?;
        end_at("sent");
        if is_at("answered") {
            lock_state(&printer.0);
        }
        Ok(())
    }
}

fn is_at(step: &str) -> bool {
    env::var(STEP).is_ok_and(|at| at == step)
}

/// Ends the process without a warning, like a power failure.
fn end_at(step: &str) {
    if is_at(step) {
        abort();
    }
}

/// Locks the state database for some time, so that no task is deleted.
fn lock_state(folder: &Path) {
    let other = Connection::open(state_file(folder)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    thread::spawn(move || {
        thread::sleep(LOCKED);
        drop(other);
    });
}

fn letters(folder: &Path) -> PathBuf {
    folder.join("letters")
}

fn state_file(folder: &Path) -> PathBuf {
    folder.join("data").join("state.sqlite")
}

/// The part of a started program. In a normal run of the tests, there is nothing to serve.
#[test]
fn a_process_prints_letters() {
    let Ok(folder) = env::var(FOLDER).map(PathBuf::from) else {
        return;
    };
    tracing_subscriber::fmt().with_writer(io::stderr).init();
    let settings = Settings::default()
        .event_store_data_dir(folder.join("data"))
        .event_store_port(0);
    let ordered: Option<u32> = env::var(ORDER).ok().map(|id| id.parse().unwrap());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let app = App::new("letters").provide(Printer(folder));
        let application = app.settings(settings).build().await.unwrap();
        if let Some(id) = ordered {
            let client = application.client();
            let order = json!({ "id": id });
            let order = client.post("/letters/order", &order).await;
            assert_eq!(order.unwrap().status, 204);
        }
        end_at("stored");
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        application.serve(listener).await.unwrap();
    });
}

/// The processes that print the letters of one folder, one after the other.
struct Office {
    folder: tempfile::TempDir,
    running: Option<Child>,
}

impl Office {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            running: None,
        }
    }

    fn start(&mut self, step: &str, order: Option<u32>) {
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.log_file());
        let mut command = Command::new(env::current_exe().unwrap());
        command
            .args(["a_process_prints_letters", "--exact", "--nocapture"])
            .env(FOLDER, self.folder.path())
            .env(STEP, step)
            .envs(order.map(|id| (ORDER, id.to_string())))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.unwrap());
        self.running = Some(command.spawn().unwrap());
    }

    fn kill(&mut self) {
        if let Some(mut process) = self.running.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Waits until the process has ended by itself.
    async fn end(&mut self) {
        let process = self.running.as_mut().unwrap();
        eventually("the process ends", async || process.try_wait().unwrap()).await;
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.log_file()).unwrap()
    }

    /// Returns the keys of the letters that were printed.
    fn printed(&self) -> Vec<String> {
        let printed = fs::read_to_string(letters(self.folder.path())).unwrap_or_default();
        printed.lines().map(str::to_owned).collect()
    }

    async fn await_printed(&self, count: usize) {
        eventually("the letter is printed", async || {
            (self.printed().len() >= count).then_some(())
        })
        .await;
    }

    fn select(&self, sql: &str) -> i64 {
        let state = Connection::open(state_file(self.folder.path())).unwrap();
        state
            .query_row(sql, [], |row| row.get(0))
            .unwrap_or_default()
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Starts a process that orders a letter, and expects that it prints none and says these parts of a sentence.
    async fn expect_stopped(&mut self, parts: [&str; 2]) {
        let printed = self.printed();
        self.start("", Some(3));
        eventually("the log says what to do", async || {
            let log = self.log();
            parts.iter().all(|part| log.contains(part)).then_some(())
        })
        .await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.kill();
        assert_eq!(self.printed(), printed);
    }

    /// Waits until the event is planned and no task is left.
    async fn await_done(&self) {
        eventually("no task is left", async || {
            let is_planned = self.select("SELECT count(position) FROM es_subscriber") == 1;
            (is_planned && self.select("SELECT count(*) FROM es_task") == 0).then_some(())
        })
        .await;
    }
}

impl Drop for Office {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Lets a process end at a step of the second letter, and the next one go on. Returns the keys of this letter.
async fn end_and_go_on(step: &str) -> Vec<String> {
    let mut office = Office::new();
    // The reaction has begun, and printed a first letter.
    office.start("", Some(1));
    office.await_printed(1).await;
    office.await_done().await;
    office.kill();
    office.start(step, Some(2));
    match step {
        "answered" => {
            office.await_printed(2).await;
            // The answer is there, and its transaction waits for the lock.
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        "deleted" => {
            office.await_printed(2).await;
            office.await_done().await;
        }
        _ => office.end().await,
    }
    office.kill();
    office.start("", None);
    office.await_printed(2).await;
    office.await_done().await;
    office.kill();
    let log = office.log();
    assert!(!log.contains("panicked"), "{step}: {log}");
    office.printed().split_off(1)
}

#[tokio::test]
async fn a_call_is_repeated_only_if_its_process_ended_between_the_call_and_the_end_of_the_task() {
    for (step, calls) in [
        ("stored", 1),
        ("begun", 1),
        ("sent", 2),
        ("answered", 2),
        ("deleted", 1),
    ] {
        let mut printed = end_and_go_on(step).await;
        assert_eq!(printed.len(), calls, "{step}: {printed:?}");
        printed.dedup();
        assert_eq!(printed.len(), 1, "{step}: a repetition has the same key");
    }
}

#[tokio::test]
async fn a_locked_state_database_repeats_no_call_and_the_log_says_what_to_do() {
    let mut office = Office::new();
    office.start("answered", Some(1));
    office.await_printed(1).await;
    office.await_done().await;
    office.kill();
    assert_eq!(office.printed().len(), 1);
    let log = office.log();
    assert!(
        log.contains("another program has locked the file: end that program"),
        "{log}"
    );
}

/// Prints a letter to the end of its task, and another one.
async fn print_two_letters(between: impl Fn(&Path)) -> Office {
    let mut office = Office::new();
    for id in 1..=2 {
        office.start("", Some(id));
        office.await_printed(id as usize).await;
        office.await_done().await;
        office.kill();
        if id == 1 {
            between(&office.data());
        }
    }
    File::create(office.log_file()).unwrap();
    office
}

const STATE_FILES: [&str; 3] = ["state.sqlite", "state.sqlite-wal", "state.sqlite-shm"];

#[tokio::test]
async fn a_lost_state_database_makes_no_call_and_the_log_says_what_to_do() {
    let mut office = print_two_letters(|_| {}).await;
    for file in STATE_FILES {
        let _ = fs::remove_file(office.data().join(file));
    }
    office
        .expect_stopped([
            "have their tasks in another state database",
            "bring that database back, or rebuild each reaction",
        ])
        .await;
}

#[tokio::test]
async fn an_older_copy_of_the_state_database_makes_no_call_and_the_log_says_what_to_do() {
    let copy = tempfile::tempdir().unwrap();
    let copy_files = |from: &Path, to: &Path| {
        for file in STATE_FILES {
            let _ = fs::remove_file(to.join(file));
            let _ = fs::copy(from.join(file), to.join(file));
        }
    };
    let mut office = print_two_letters(|data| copy_files(data, copy.path())).await;
    copy_files(copy.path(), &office.data());
    office
        .expect_stopped([
            "it was restored from a copy",
            "bring the newest copy back, or rebuild each reaction",
        ])
        .await;
}
