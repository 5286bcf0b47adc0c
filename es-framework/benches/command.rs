//! Measures the cost of long subjects and of contention on one subject. Compare the ratios within one
//! run, because absolute times depend on the machine.
//!
//! `cargo bench -p es-framework --bench command -- [events of the long subject] [seconds a cell]`

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing
)]

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use es_framework::{
    command::{CommandContext, CommandDescriptor, CommandError, CommandRequest, CommandResources},
    event::{Event as _, EventCandidate, EventType, Subject},
    prelude::*,
    state::Snapshots,
    store::{EventLog as _, sqlite::EmbeddedStore},
};
use serde_json::value::RawValue;
use tokio::task::JoinSet;

#[derive(Command)]
#[command(subject = "/counters/{id}")]
struct CountCommand {
    id: String,
    /// The limit of the counter. Beyond it the handler rejects the command and nothing is written.
    at_most: u64,
}

#[derive(Event)]
#[event(package = "com.example.bench")]
struct CountedEvent {
    note: String,
}

#[derive(State)]
struct Counter {
    count: u64,
}

#[evolve]
impl Counter {
    fn began(_: &CounterBegunEvent) -> Self {
        Self { count: 0 }
    }

    fn counted(&mut self, _: &CountedEvent) {
        self.count += 1;
    }
}

#[derive(Event)]
#[event(package = "com.example.bench")]
struct CounterBegunEvent {}

#[derive(Debug, Rejection)]
#[rejection(conflict, name = "full", title = "The counter is full")]
struct CounterFull;

#[handler]
fn count(counter: &Counter, command: CountCommand) -> Result<CountedEvent, CounterFull> {
    if counter.count >= command.at_most {
        return Err(CounterFull);
    }
    let note = "a note of the length that notes have".to_owned();
    Ok(CountedEvent { note })
}

async fn send(resources: &CommandResources, id: &str, at_most: u64) -> Result<(), CommandError> {
    let body = format!(r#"{{"id":"{id}","atMost":{at_most}}}"#);
    let request = CommandRequest {
        body: body.as_bytes(),
        path_parameters: &[],
        context: &CommandContext::default(),
    };
    let count = const { CommandDescriptor::of::<CountCommand>() };
    count.execute(resources, request).await.map(drop)
}

async fn carry_out(resources: &CommandResources, id: &str) {
    send(resources, id, u64::MAX).await.unwrap();
}

async fn refuse(resources: &CommandResources, id: &str) {
    let refused = send(resources, id, 0).await;
    assert!(matches!(refused, Err(CommandError::Rejected(_))));
}

/// Fills a counter with events.
async fn fill(store: &EmbeddedStore, id: &str, events: usize) {
    let subject: Subject = format!("/counters/{id}").parse().unwrap();
    let candidate = |event_type, payload: &str| EventCandidate {
        source: "bench".into(),
        subject: subject.clone(),
        event_type: EventType::declared(event_type),
        data: RawValue::from_string(format!(r#"{{"metadata":{{}},"payload":{payload}}}"#)).unwrap(),
        trace: None,
    };
    let begun = candidate(CounterBegunEvent::TYPE, "{}");
    store.append(vec![begun], vec![]).await.unwrap();
    let counted = candidate(
        CountedEvent::TYPE,
        r#"{"note":"a note of the length that notes have"}"#,
    );
    let mut left = events.saturating_sub(1);
    while left > 0 {
        let now = left.min(1_000);
        store
            .append(vec![counted.clone(); now], vec![])
            .await
            .unwrap();
        left -= now;
    }
}

fn open_resources(store: &EmbeddedStore, snapshots: &Path) -> CommandResources {
    CommandResources::new(Arc::new(store.clone()), "bench")
        .with_snapshots(Snapshots::in_file(snapshots.to_owned()))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Measures two actions alternately and returns the median time of each.
async fn in_turns(
    rounds: usize,
    resources: &CommandResources,
    ids: [&str; 2],
    writes: bool,
) -> [Duration; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for (id, times) in ids.iter().zip(&mut times) {
            let begin = Instant::now();
            if writes {
                carry_out(resources, id).await
            } else {
                refuse(resources, id).await
            }
            times.push(begin.elapsed());
        }
    }
    times.map(median)
}

async fn long_subjects(store: &EmbeddedStore, folder: &Path, events: usize) {
    fill(store, "short", 10).await;
    fill(store, "long", events).await;
    let without = folder.join("no-snapshots.sqlite");
    let begin = Instant::now();
    refuse(&open_resources(store, &without), "long").await;
    println!(
        "{events} events, nothing remembered:        {:>9.2?}",
        begin.elapsed()
    );

    let snapshots = folder.join("snapshots.sqlite");
    let warm = open_resources(store, &snapshots);
    for id in ["short", "long"] {
        refuse(&warm, id).await;
    }
    for (what, writes) in [("refused", false), ("carried out", true)] {
        let [short, long] = in_turns(400, &warm, ["short", "long"], writes).await;
        let ratio = long.as_secs_f64() / short.as_secs_f64();
        println!(
            "{what:>12}, warm: 10 events {short:>9.2?}, {events} events {long:>9.2?}, ratio {ratio:.2}"
        );
    }
    // Another thread writes the snapshot.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let mut times = Vec::new();
    for _ in 0..20 {
        let cold = open_resources(store, &snapshots);
        let begin = Instant::now();
        refuse(&cold, "long").await;
        times.push(begin.elapsed());
    }
    println!(
        "{events} events, cold from a snapshot:     {:>9.2?}",
        median(times)
    );
}

/// The results of clients of one kind.
struct ClientResults {
    each: Vec<usize>,
    waits: Vec<Duration>,
    contended: usize,
}

/// Runs clients, each of which sends commands through the resources of one of the instances until the time is over.
async fn contend(
    instances: &[CommandResources],
    clients: usize,
    seconds: f64,
    id: impl Fn(usize) -> String,
) -> ClientResults {
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let mut running = JoinSet::new();
    for client in 0..clients {
        let (resources, id) = (instances[client % instances.len()].clone(), id(client));
        running.spawn(async move {
            let (mut waits, mut contended) = (Vec::new(), 0);
            while Instant::now() < end {
                let begin = Instant::now();
                match send(&resources, &id, u64::MAX).await {
                    Ok(()) => waits.push(begin.elapsed()),
                    Err(CommandError::Contended(_)) => contended += 1,
                    Err(error) => panic!("{error}"),
                }
            }
            (waits, contended)
        });
    }
    let mut seen = ClientResults {
        each: vec![],
        waits: vec![],
        contended: 0,
    };
    while let Some(done) = running.join_next().await {
        let (waits, contended) = done.unwrap();
        seen.each.push(waits.len());
        seen.waits.extend(waits);
        seen.contended += contended;
    }
    seen
}

async fn contention(store: &EmbeddedStore, folder: &Path, seconds: f64) {
    let mut all = Vec::new();
    for index in 0..2 {
        all.push(open_resources(
            store,
            &folder.join(format!("contended-{index}.sqlite")),
        ));
    }
    for client in 0..64 {
        fill(store, &format!("own-{client}"), 1).await;
    }
    println!(
        "\nclients on              commands/s   p50       p99       least/most of a client  409"
    );
    for (what, clients, instances, shared) in [
        ("one, alone", 1, 1, true),
        ("64 subjects of their own", 64, 1, false),
        ("one subject", 16, 1, true),
        ("one subject", 64, 1, true),
        ("one subject, 2 instances", 64, 2, true),
    ] {
        let id = format!("shared-{clients}-{instances}");
        fill(store, &id, 1).await;
        let name = |client| {
            if shared {
                id.clone()
            } else {
                format!("own-{client}")
            }
        };
        let mut seen = contend(&all[..instances], clients, seconds, name).await;
        seen.waits.sort();
        let at = |part: f64| {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss
            )]
            let index = (seen.waits.len() as f64 * part) as usize;
            seen.waits.get(index).copied().unwrap_or_default()
        };
        #[allow(clippy::cast_precision_loss)]
        let rate = seen.waits.len() as f64 / seconds;
        println!(
            "{what:<25}{clients:>3} {rate:>7.0}   {:>8.2?}  {:>8.2?}  {:>6} / {:<6}  {:>8}",
            at(0.5),
            at(0.99),
            seen.each.iter().min().unwrap(),
            seen.each.iter().max().unwrap(),
            seen.contended,
        );
    }
}

#[tokio::main]
async fn main() {
    // Cargo adds its own flags.
    let numbers: Vec<f64> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let events = numbers.first().map_or(100_000, |events| *events as usize);
    let seconds = numbers.get(1).copied().unwrap_or(3.0);
    let folder = tempfile::tempdir_in("../target").unwrap();
    let store = EmbeddedStore::open(&folder.path().join("events")).unwrap();
    long_subjects(&store, folder.path(), events).await;
    contention(&store, folder.path(), seconds).await;
}
