//! A schedule in several processes that are killed: each of its times leads to one command and to one call.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

#[path = "../support/mod.rs"]
mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    fs::{self, File, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use es_framework::{App, Settings, prelude::*};
use tokio::net::TcpListener;

use support::{eventually::eventually, postgres_server::PostgresServer};

const EVENTS: &str = "SCHEDULES_EVENTS";
const FOLDER: &str = "SCHEDULES_FOLDER";
/// The time at which the clocks of all processes began.
const BEGIN: &str = "SCHEDULES_BEGIN";
/// The clocks are so much faster, because a schedule has no time between two minutes.
const SPEED: i32 = 60;

/// Its handler counts without a look at the count, so that a second command is seen in the log.
#[derive(Command)]
#[command(subject = "/minutes/{minute}", internal)]
struct CountMinuteCommand {
    minute: i64,
}

#[derive(Event)]
#[event(from = CountMinuteCommand)]
struct MinuteCountedEvent {
    minute: i64,
}

#[handler]
fn count(command: CountMinuteCommand) -> MinuteCountedEvent;

/// The other system, which notes who rings when.
#[derive(Service)]
struct Bell(PathBuf);

struct MinuteHand;

#[reaction]
impl MinuteHand {
    #[schedule(cron = "* * * * *", missed = all)]
    fn count(time: Timestamp) -> CountMinuteCommand {
        let minute = time.as_second() / 60;
        CountMinuteCommand { minute }
    }

    #[schedule(cron = "* * * * *", missed = all)]
    async fn ring(time: Timestamp, key: &ReactionKey, bell: &Bell) -> Result<(), std::io::Error> {
        let line = format!("{} {} {key}\n", std::process::id(), time.as_second() / 60);
        let mut file = OpenOptions::new().create(true).append(true).open(&bell.0)?;
        file.write_all(line.as_bytes())
    }
}

/// The part of a started program. In a normal run of the tests, there is nothing to serve.
#[test]
fn a_process_keeps_the_minutes() {
    let Ok(folder) = env::var(FOLDER).map(PathBuf::from) else {
        return;
    };
    let begin: Timestamp = env::var(BEGIN).unwrap().parse().unwrap();
    let clock = Clock::at(begin);
    let moved = clock.clone();
    thread::spawn(move || {
        loop {
            let elapsed = Timestamp::now().duration_since(begin);
            moved.set(begin + elapsed * SPEED);
            thread::sleep(Duration::from_millis(10));
        }
    });
    let data = folder.join(std::process::id().to_string());
    let settings = Settings::default()
        .event_store_url(env::var(EVENTS).ok().map(Into::into))
        .event_store_data_dir(data);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let app = App::new("minutes")
            .provide(clock)
            .provide(Bell(bell(&folder)));
        let application = app.settings(settings).build().await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        application.serve(listener).await.unwrap();
    });
}

fn bell(folder: &Path) -> PathBuf {
    folder.join("bell")
}

/// Processes on one event store, killed when this is dropped.
struct Processes {
    server: PostgresServer,
    begin: Timestamp,
    folder: tempfile::TempDir,
    running: Vec<Child>,
    kills: usize,
}

/// A call that was made: the process, the minute and the key.
type BellCall = (u32, i64, String);

impl Processes {
    fn start(&mut self) {
        let log = self
            .folder
            .path()
            .join(format!("log-{}", self.running.len() + self.kills));
        let mut command = Command::new(env::current_exe().unwrap());
        command
            .args(["a_process_keeps_the_minutes", "--exact", "--nocapture"])
            .env(EVENTS, self.server.url())
            .env(FOLDER, self.folder.path())
            .env(BEGIN, self.begin.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(log).unwrap());
        self.running.push(command.spawn().unwrap());
    }

    /// Kills a process, like a power failure.
    fn kill(&mut self, id: u32) {
        let place = self.running.iter().position(|process| process.id() == id);
        let mut process = self.running.remove(place.unwrap());
        process.kill().unwrap();
        process.wait().unwrap();
        self.kills += 1;
    }

    fn rings(&self) -> Vec<BellCall> {
        let lines = fs::read_to_string(bell(self.folder.path())).unwrap_or_default();
        let rings = lines.lines().map(|line| {
            let mut words = line.splitn(3, ' ');
            let mut next = || words.next().unwrap();
            (
                next().parse().unwrap(),
                next().parse().unwrap(),
                next().to_owned(),
            )
        });
        rings.collect()
    }

    /// The minutes of the recorded events, in their order.
    fn counted(&self) -> Vec<i64> {
        let events = "SELECT data::json->'payload'->>'minute' FROM es_events \
             WHERE type LIKE '%.MinuteCountedEvent' ORDER BY id";
        let minutes = self.server.query(events);
        let minutes = minutes.split_whitespace();
        minutes.map(|minute| minute.parse().unwrap()).collect()
    }

    /// Waits for so many further minutes, and returns the process that made the last call.
    async fn pass(&self, minutes: usize) -> u32 {
        let (rung, counted) = (self.rings().len(), self.counted().len());
        let last = eventually("minutes pass", async || {
            let rings = self.rings();
            let is_enough =
                rings.len() >= rung + minutes && self.counted().len() >= counted + minutes;
            rings.last().filter(|_| is_enough).cloned()
        });
        last.await.0
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for process in &mut self.running {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Asserts that each minute from the first to the last one is there once.
fn assert_without_gap(minutes: &[i64]) {
    let (first, last) = (minutes[0], minutes[minutes.len() - 1]);
    assert_eq!(minutes, (first..=last).collect::<Vec<_>>());
}

#[tokio::test]
async fn each_time_leads_to_one_command_although_the_process_that_makes_the_calls_is_killed() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let mut processes = Processes {
        server,
        begin: Timestamp::now(),
        folder: tempfile::tempdir().unwrap(),
        running: Vec::new(),
        kills: 0,
    };
    processes.start();
    processes.start();
    eventually("the bell rings", async || {
        (!processes.rings().is_empty()).then_some(())
    })
    .await;
    for _ in 0..2 {
        let leader = processes.pass(3).await;
        processes.kill(leader);
        processes.start();
    }
    // Nobody runs for some minutes, which are all made up for.
    processes.pass(3).await;
    for id in processes.running.iter().map(Child::id).collect::<Vec<_>>() {
        processes.kill(id);
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    processes.start();
    processes.start();
    processes.pass(10).await;

    assert_without_gap(&processes.counted());
    let mut keys: BTreeMap<i64, BTreeSet<String>> = BTreeMap::new();
    let rings = processes.rings();
    for (_, minute, key) in &rings {
        keys.entry(*minute).or_default().insert(key.clone());
    }
    let minutes: Vec<_> = keys.keys().copied().collect();
    assert_without_gap(&minutes);
    assert!(keys.values().all(|keys| keys.len() == 1), "{keys:?}");
    // A kill between a call and its checkpoint repeats the call.
    assert!(rings.len() <= minutes.len() + processes.kills, "{rings:?}");
}
