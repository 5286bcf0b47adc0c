//! Durable purchases a second over HTTP, beside the same route that parses and answers without
//! storing: both in processes of their own, in turns, with the load from this process on the same
//! cores. Read the ratios; the absolute figures are the machine's.
//!
//! `cargo bench -p library-app --bench purchase -- [--seconds 4] [--rounds 3]`; each `--program name=path` adds another
//! program with the same route, and one whose name is `library@…` is compared with `library`; with `--million`
//! instead the memory over a million purchases and the time to open them; with `--observed` what the
//! log and traces cost; with `--sinks` what three sinks cost; with `--instances` two instances on one PostgreSQL beside
//! one; with `--lines` one request with many purchases beside single requests; with `--followed` what read models cost and
//! how far they are behind; with
//! `--load 127.0.0.1:8080 [--connections 64]` a library that runs already.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::print_stdout,
    reason = "a benchmark may fail by panicking, and it prints"
)]

mod bare;
mod followed;
mod instances;
mod lines;
mod load;
mod million;
mod observed;
mod sinks;
#[path = "../../../es-framework/tests/support/mod.rs"]
mod support;

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use load::LoadResult;

/// How many connections, and the least ratio of durable to bare throughput asked of them.
const GOALS: [(usize, Option<f64>); 4] = [
    (1, None),
    (16, Some(0.30)),
    (64, Some(0.38)),
    (256, Some(0.45)),
];

struct Settings {
    seconds: f64,
    rounds: usize,
    million: bool,
    observed: bool,
    sinks: bool,
    followed: bool,
    instances: bool,
    lines: bool,
    load: Option<String>,
    connections: usize,
    programs: Vec<Program>,
}

/// A program that purchases and stores.
struct Program {
    name: String,
    path: PathBuf,
}

impl Settings {
    fn read() -> Self {
        let arguments: Vec<String> = std::env::args().collect();
        let text = |name: &str| {
            let at = arguments.iter().position(|argument| argument == name)?;
            arguments.get(at + 1).cloned()
        };
        let value = |name: &str| text(name)?.parse::<f64>().ok();
        let flag = |name: &str| arguments.iter().any(|argument| argument == name);
        let library = ("library", env!("CARGO_BIN_EXE_library-app"));
        let others = arguments.windows(2).filter(|pair| pair[0] == "--program");
        let others = others.map(|pair| pair[1].split_once('=').expect("--program name=path"));
        let programs = std::iter::once(library).chain(others);
        Self {
            seconds: value("--seconds").unwrap_or(4.0),
            rounds: value("--rounds").map_or(3, |rounds| rounds.max(1.0) as usize),
            million: flag("--million"),
            observed: flag("--observed"),
            sinks: flag("--sinks"),
            followed: flag("--followed"),
            instances: flag("--instances"),
            lines: flag("--lines"),
            load: text("--load"),
            connections: value("--connections").map_or(64, |count| count.max(1.0) as usize),
            programs: programs
                .map(|(name, path)| Program {
                    name: name.into(),
                    path: path.into(),
                })
                .collect(),
        }
    }
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("bare") {
        return bare::serve();
    }
    if followed::is_alone() {
        return followed::serve_alone();
    }
    let settings = Settings::read();
    if let Some(address) = &settings.load {
        let time = Duration::from_secs_f64(settings.seconds);
        let LoadResult {
            rate,
            median_ms,
            p99_ms,
            standstill_ms,
        } = load::run(address, settings.connections, time);
        return println!(
            "{rate:.0} purchases/s, {median_ms:.3} ms median, {p99_ms:.2} ms 99th percentile, {standstill_ms:.1} ms longest standstill"
        );
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    if settings.million {
        return million::run(folder.path());
    }
    if settings.observed {
        return observed::run(&settings, folder.path());
    }
    if settings.sinks {
        return sinks::run(&settings, folder.path());
    }
    if settings.followed {
        return followed::run(&settings, folder.path());
    }
    if settings.instances {
        return instances::run(&settings, folder.path());
    }
    if settings.lines {
        return lines::run(&settings, folder.path());
    }
    print_purchases(&settings, folder.path());
}

fn print_purchases(settings: &Settings, folder: &Path) {
    let flush = flush_time(folder);
    println!(
        "one fdatasync of 4 KiB into a growing file, median: {} µs\n",
        flush.as_micros()
    );
    println!(
        "| connections | program | purchases/s | of the bare route | goal | median / 99th percentile | longest standstill | of the other revision |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (connections, goal) in GOALS {
        let (bare, durable) = measure(settings, folder, connections);
        println!(
            "| {connections} | bare route | {:.0} | | | {:.3} / {:.2} ms | {:.1} ms | |",
            bare.rate, bare.median_ms, bare.p99_ms, bare.standstill_ms
        );
        for (program, result) in settings.programs.iter().zip(&durable) {
            let other = settings.programs.iter().zip(&durable).find(|(other, _)| {
                let name = other.name.split_once('@');
                name.is_some_and(|(name, _)| name == program.name)
            });
            println!(
                "| {connections} | {} | {:.0} | {:.2} | {} | {:.3} / {:.2} ms | {:.1} ms | {} |",
                program.name,
                result.rate,
                result.rate / bare.rate,
                goal.map_or(String::new(), |goal| format!("{goal:.2}")),
                result.median_ms,
                result.p99_ms,
                result.standstill_ms,
                other.map_or(String::new(), |(_, other)| format!(
                    "{:.2}",
                    result.rate / other.rate
                )),
            );
            if connections == 1 {
                let flushes = (result.median_ms - bare.median_ms) / (flush.as_secs_f64() * 1e3);
                let name = &program.name;
                eprintln!(
                    "{name}: a durable purchase takes the bare time + {flushes:.2} flushes (≤ 1.5)"
                );
            }
        }
    }
}

/// Medians of interleaved rounds: of the bare route, and of each program.
fn measure(
    settings: &Settings,
    folder: &Path,
    connections: usize,
) -> (LoadResult, Vec<LoadResult>) {
    let mut bare = Vec::new();
    let mut durable: Vec<_> = settings.programs.iter().map(|_| Vec::new()).collect();
    let time = Duration::from_secs_f64(settings.seconds);
    for _ in 0..settings.rounds {
        let server = Server::bare();
        bare.push(load::run(&server.address, connections, time));
        drop(server);
        for (program, results) in settings.programs.iter().zip(&mut durable) {
            let data = folder.join("data");
            let server = Server::with_store(&mut Command::new(&program.path), &data);
            results.push(load::run(&server.address, connections, time));
            drop(server);
            std::fs::remove_dir_all(data).unwrap();
        }
    }
    let durable = durable.into_iter().map(LoadResult::median).collect();
    (LoadResult::median(bare), durable)
}

fn library() -> Command {
    Command::new(env!("CARGO_BIN_EXE_library-app"))
}

/// A server in a process of its own.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn bare() -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        Self::start(command.arg("bare"), "bare route on")
    }

    fn with_store(command: &mut Command, data: &Path) -> Self {
        command
            .env("HTTP_PORT", "0")
            .env("EVENT_STORE_PORT", "0")
            .env("EVENT_STORE_DATA_DIR", data);
        Self::start(command, "-service listens on")
    }

    fn start(command: &mut Command, mark: &str) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| {
                Some(
                    line.split_once(mark)?
                        .1
                        .split_once("http://")?
                        .1
                        .trim()
                        .to_owned(),
                )
            })
            .expect("the server says where it listens");
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn flush_time(folder: &Path) -> Duration {
    let mut file = File::create(folder.join("flush")).unwrap();
    let mut times: Vec<Duration> = (0..500)
        .map(|_| {
            let begin = Instant::now();
            file.write_all(&[7; 4096]).unwrap();
            file.sync_data().unwrap();
            begin.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}
