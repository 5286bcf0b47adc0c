//! Measures the cost of personal data: registrations, reads and rebuilds with one personal field, beside the same
//! without it.
//! Both are measured alternately in one run. Compare the ratios, because absolute times depend on the machine.
//!
//! `cargo bench -p es-framework --bench personal -- [events to read] [rounds] [seconds a round]`

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::indexing_slicing
)]

mod rebuilding;

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use es_framework::{
    command::{CommandContext, CommandDescriptor, CommandRequest, CommandResources, Handle},
    event::{EventCandidate, EventDescriptor, EventType, Metadata, Subject, encode_event},
    personal::{PersonKeys, PersonalEvents, PersonalStore, SqlKeyStore},
    prelude::*,
    projection::{DatabaseUrl, Project, ReadModelDescriptor, ReadModels},
    store::{EventLog, ReadOptions, sqlite::EmbeddedStore},
};
use futures_util::TryStreamExt as _;
use tokio::task::JoinSet;

const PERSONS: usize = 10_000;
const BATCH: usize = 1_000;

#[derive(Command)]
#[command(subject = "/plain/{id}", condition = pristine)]
struct RegisterPlainCommand {
    id: Uuid,
    name: String,
}

#[derive(Event)]
#[event(package = "com.example.bench", from = RegisterPlainCommand)]
struct PlainRegisteredEvent {
    id: Uuid,
    name: String,
}

#[handler]
fn register_plain(command: RegisterPlainCommand) -> PlainRegisteredEvent;

#[derive(Command)]
#[command(subject = "/personal/{id}", condition = pristine)]
struct RegisterPersonalCommand {
    id: Uuid,
    name: String,
}

#[derive(Event)]
#[event(package = "com.example.bench", from = RegisterPersonalCommand)]
struct PersonalRegisteredEvent {
    id: Uuid,
    #[personal(of = id, erased = "erased")]
    name: String,
}

#[handler]
fn register_personal(command: RegisterPersonalCommand) -> PersonalRegisteredEvent;

#[derive(ReadModel)]
#[read_model(table = "plain")]
struct PlainRow {
    #[key]
    id: Uuid,
    name: String,
}

#[projection]
impl PlainRow {
    #[key(id)]
    fn registered(event: PlainRegisteredEvent) -> Self {
        let PlainRegisteredEvent { id, name } = event;
        Self { id, name }
    }
}

#[derive(ReadModel)]
#[read_model(table = "personal")]
struct PersonalRow {
    #[key]
    id: Uuid,
    name: String,
}

#[projection]
impl PersonalRow {
    #[key(id)]
    fn registered(event: PersonalRegisteredEvent) -> Self {
        let PersonalRegisteredEvent { id, name } = event;
        Self { id, name }
    }
}

/// The event stores of one measurement: one without personal data, and one with a cipher before it.
struct Stores {
    plain: Arc<dyn EventLog>,
    personal: Arc<dyn EventLog>,
}

impl Stores {
    async fn open(folder: &Path) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        let open = |name: &str| Arc::new(EmbeddedStore::open(&folder.join(name)).unwrap());
        let url = DatabaseUrl::File(folder.join("keys.sqlite"));
        let keys = SqlKeyStore::open(&url).await.unwrap();
        let person_keys = PersonKeys::new(Arc::new(keys));
        let events = PersonalEvents::select(&[EventDescriptor::of::<PersonalRegisteredEvent>()]);
        Self {
            plain: open("plain"),
            personal: Arc::new(PersonalStore::new(open("personal"), events, person_keys)),
        }
    }
}

/// Registers new persons with so many clients, and returns the registrations a second.
async fn register<C: Command + Handle>(
    store: &Arc<dyn EventLog>,
    clients: usize,
    time: Duration,
) -> f64 {
    let resources = CommandResources::new(Arc::clone(store), "bench");
    let begin = Instant::now();
    let mut running = JoinSet::new();
    for _ in 0..clients {
        let resources = resources.clone();
        running.spawn(async move {
            let mut count = 0_usize;
            while begin.elapsed() < time {
                let id = Uuid::new_v4();
                let body = format!(r#"{{"id":"{id}","name":"Ada Lovelace of London"}}"#);
                let request = CommandRequest {
                    body: body.as_bytes(),
                    path_parameters: &[],
                    context: &CommandContext::default(),
                };
                let command = CommandDescriptor::of::<C>();
                command.execute(&resources, request).await.unwrap();
                count += 1;
            }
            count
        });
    }
    let count: usize = running.join_all().await.into_iter().sum();
    count as f64 / begin.elapsed().as_secs_f64()
}

async fn measure_registrations(stores: &Stores, rounds: usize, time: Duration) {
    println!("registrations/s     without   with    ratio of the medians, of each round");
    for clients in [1, 64, 256] {
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            without.push(register::<RegisterPlainCommand>(&stores.plain, clients, time).await);
            with.push(register::<RegisterPersonalCommand>(&stores.personal, clients, time).await);
        }
        report(&format!("{clients:>3} clients"), without, with);
    }
}

fn candidate<E: Event>(subject: &str, event: &E) -> EventCandidate {
    EventCandidate {
        source: "bench".into(),
        subject: subject.parse().unwrap(),
        event_type: EventType::declared(E::TYPE),
        data: encode_event(&Metadata::default(), event).unwrap(),
        trace: None,
    }
}

async fn fill(stores: &Stores, events: usize) {
    let name = "Ada Lovelace of London";
    for first in (0..events).step_by(BATCH) {
        let ids = (first..events.min(first + BATCH)).map(|index| index % PERSONS);
        let ids: Vec<_> = ids.map(|id| Uuid::from_u128(id as u128)).collect();
        let plain = ids.iter().map(|&id| {
            let name = name.to_owned();
            candidate(&format!("/read/{id}"), &PlainRegisteredEvent { id, name })
        });
        stores.plain.append(plain.collect(), vec![]).await.unwrap();
        let personal = ids.iter().map(|&id| {
            let name = name.to_owned();
            candidate(
                &format!("/read/{id}"),
                &PersonalRegisteredEvent { id, name },
            )
        });
        let appended = stores.personal.append(personal.collect(), vec![]);
        appended.await.unwrap();
    }
}

/// Reads all events, decodes them if need be, and returns the events a second.
async fn read<E: Event>(store: &Arc<dyn EventLog>, decodes: bool) -> f64 {
    let subject: Subject = "/read".parse().unwrap();
    let begin = Instant::now();
    let mut events = store.read(subject, ReadOptions::recursive());
    let mut count = 0_usize;
    while let Some(event) = events.try_next().await.unwrap() {
        if decodes {
            std::hint::black_box(event.payload::<E>().unwrap());
        }
        count += 1;
    }
    count as f64 / begin.elapsed().as_secs_f64()
}

/// Rebuilds a read model, and returns the events a second.
async fn rebuild<R: Project>(store: &Arc<dyn EventLog>, events: usize) -> f64 {
    let models = ReadModels::new([ReadModelDescriptor::of::<R>()]).unwrap();
    let begin = Instant::now();
    rebuilding::rebuild(Arc::clone(store), models).await;
    events as f64 / begin.elapsed().as_secs_f64()
}

async fn measure_reads(stores: &Stores, events: usize, rounds: usize) {
    fill(stores, events).await;
    println!("\n{events} events, read/s   without   with    ratio of the medians, of each round");
    for (what, decodes) in [("read", false), ("read and decoded", true)] {
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            without.push(read::<PlainRegisteredEvent>(&stores.plain, decodes).await);
            with.push(read::<PersonalRegisteredEvent>(&stores.personal, decodes).await);
        }
        report(what, without, with);
    }
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        without.push(rebuild::<PlainRow>(&stores.plain, events).await);
        with.push(rebuild::<PersonalRow>(&stores.personal, events).await);
    }
    report("rebuilt", without, with);
}

fn report(what: &str, without: Vec<f64>, with: Vec<f64>) {
    let ratios = with
        .iter()
        .zip(&without)
        .map(|(with, without)| with / without);
    let ratios: Vec<_> = ratios.map(|ratio| format!("{ratio:.2}")).collect();
    let [without, with] = [without, with].map(median);
    let ratio = with / without;
    println!(
        "{what:<18} {without:>9.0} {with:>9.0}   {ratio:.2}   {}",
        ratios.join(" ")
    );
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

#[tokio::main]
async fn main() {
    // Cargo adds flags of its own.
    let numbers: Vec<f64> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let number = |index: usize, default| numbers.get(index).copied().unwrap_or(default);
    let (events, rounds) = (number(0, 1_000_000.0) as usize, number(1, 5.0) as usize);
    let time = Duration::from_secs_f64(number(2, 2.0));
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let stores = Stores::open(&folder.path().join("registrations")).await;
    measure_registrations(&stores, rounds, time).await;
    let stores = Stores::open(&folder.path().join("reads")).await;
    measure_reads(&stores, events, rounds).await;
}
