//! One order of events explains the results of many concurrent clients.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use crate::history::{Action, ObservedEvent, Operation, check};
use crate::{
    server_process::{ServerProcess, TOKEN},
    support::postgres_server::PostgresServer,
};
use es_event::{EventCandidate, EventId, RecordedEvent, Subject};
use es_store::{AppendError, EventStore, Precondition, ReadOptions};
use es_store_client::{ClientSettings, EventSourcingDbStore};
use es_store_sqlite::EmbeddedStore;
use futures_util::{TryStreamExt as _, future::join_all};
use serde::Deserialize;
use serde_json::value::RawValue;

const CLIENTS: u64 = 8;

/// Operations of each client.
const STEPS: usize = 25;

/// So few subjects that the clients conflict.
const SUBJECTS: [&str; 6] = [
    "/books/1",
    "/books/1/pages/1",
    "/books/2",
    "/books/3",
    "/readers/1",
    "/readers/2",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_order_explains_what_clients_of_the_embedded_store_saw() {
    for seed in 0..12 {
        let store: Arc<dyn EventStore> = Arc::new(EmbeddedStore::temporary().unwrap());
        let stores = (0..CLIENTS).map(|_| Arc::clone(&store)).collect();
        run(stores, seed).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_order_explains_what_clients_over_http_saw() {
    for seed in 100..106 {
        let server = ServerProcess::temporary(&[]);
        let clients = (0..CLIENTS).map(|_| connect(&server));
        run(clients.collect(), seed).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_order_explains_what_clients_of_two_servers_on_one_postgresql_saw() {
    let Some(postgres) = PostgresServer::start() else {
        return;
    };
    for seed in 200..203 {
        postgres.query(&format!("CREATE SCHEMA seed_{seed}"));
        let engine = format!("{}?options[search_path]=seed_{seed}", postgres.url());
        let start = || ServerProcess::start(&["--engine", &engine, "--http-port=0"]);
        let servers = [start(), start()];
        let clients = (0..CLIENTS).zip(servers.iter().cycle());
        run(clients.map(|(_, server)| connect(server)).collect(), seed).await;
    }
}

/// Returns a client of a server.
fn connect(server: &ServerProcess) -> Arc<dyn EventStore> {
    let store = EventSourcingDbStore::new(ClientSettings::new(&server.url, TOKEN));
    Arc::new(store.unwrap())
}

/// Runs each client against the same event store, and checks their results.
async fn run(stores: Vec<Arc<dyn EventStore>>, seed: u64) {
    let last = Arc::clone(&stores[0]);
    let recorder = Arc::new(Recorder::default());
    let clients = stores.into_iter().zip(0..).map(|(store, number)| {
        let client = Client {
            store,
            recorder: Arc::clone(&recorder),
            random: Random(seed * CLIENTS + number),
        };
        tokio::spawn(client.work())
    });
    for ended in join_all(clients).await {
        ended.unwrap();
    }
    let log = read(&*last, Subject::root(), true).await;
    let history: Vec<_> = std::mem::take(&mut *recorder.history.lock().unwrap())
        .into_values()
        .collect();
    let refused = |operation: &&Operation| {
        let Action::Write { acknowledged, .. } = &operation.action else {
            return false;
        };
        acknowledged.is_none()
    };
    assert!(
        history.iter().any(|operation| refused(&operation)) && log.len() > STEPS,
        "seed {seed}: the clients were not in each other's way"
    );
    if let Err(violation) = check(&log, &history) {
        let numbered = history.iter().enumerate();
        let lines: String = numbered
            .map(|(number, operation)| format!("{number}: {operation:?}\n"))
            .collect();
        panic!("seed {seed}: {violation:?}\n{lines}");
    }
}

/// Records all operations on one clock.
#[derive(Debug, Default)]
struct Recorder {
    clock: AtomicU64,
    numbers: AtomicUsize,
    history: Mutex<BTreeMap<usize, Operation>>,
}

impl Recorder {
    /// Runs an operation, which receives its number, and records it.
    async fn record(&self, operation: impl AsyncFnOnce(usize) -> Action) {
        let number = self.numbers.fetch_add(1, Ordering::SeqCst);
        let invoked = self.clock.fetch_add(1, Ordering::SeqCst);
        let action = operation(number).await;
        let returned = self.clock.fetch_add(1, Ordering::SeqCst);
        let operation = Operation {
            invoked,
            returned,
            action,
        };
        self.history.lock().unwrap().insert(number, operation);
    }
}

struct Client {
    store: Arc<dyn EventStore>,
    recorder: Arc<Recorder>,
    random: Random,
}

impl Client {
    async fn work(mut self) {
        for _ in 0..STEPS {
            let subject = self.random.subject();
            match self.random.below(9) {
                0 => self.read(subject, false).await,
                1 => self.read(Subject::root(), true).await,
                2 => self.write(vec![]).await,
                3 => {
                    let pristine = Precondition::SubjectIsPristine(subject);
                    self.write(vec![pristine]).await;
                }
                4 => {
                    let populated = Precondition::SubjectIsPopulated(subject);
                    let pristine = Precondition::SubjectIsPristine(self.random.subject());
                    self.write(vec![populated, pristine]).await;
                }
                5 => {
                    let latest = self.latest(&Subject::root(), true).await;
                    self.write(vec![Precondition::StoreIsOnEventId(latest)])
                        .await;
                }
                6 => self.claim().await,
                _ => {
                    let unchanged = match self.latest(&subject, false).await {
                        Some(id) => Precondition::SubjectIsOnEventId(subject, id),
                        None => Precondition::SubjectIsPristine(subject),
                    };
                    self.write(vec![unchanged]).await;
                }
            }
            if self.random.below(4) == 0 {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Claims a value for an owner, as the append of an event with a unique value does: neither the last claim of the value
    /// nor the list of the owner's values has changed since they were read.
    async fn claim(&mut self) {
        let mut unchanged = Vec::new();
        for subject in [self.random.subject(), self.random.subject()] {
            let latest = self.latest(&subject, false).await;
            unchanged.push(Precondition::subject_is_unchanged(subject, latest));
        }
        self.write(unchanged).await;
    }

    async fn read(&self, base: Subject, recursive: bool) {
        let read = async |_| Action::Read {
            seen: read(&*self.store, base.clone(), recursive).await,
            base,
            recursive,
        };
        self.recorder.record(read).await;
    }

    /// Reads the latest event, as a decision does before its write.
    async fn latest(&self, base: &Subject, recursive: bool) -> Option<EventId> {
        let mut latest = None;
        let read = async |_| {
            let seen = read(&*self.store, base.clone(), recursive).await;
            latest = seen.last().and_then(|event| EventId::new(event.id));
            Action::Read {
                base: base.clone(),
                recursive,
                seen,
            }
        };
        self.recorder.record(read).await;
        latest
    }

    /// Writes some events. Each subject of a precondition gets one, so that the second of two clients finds it changed.
    async fn write(&mut self, preconditions: Vec<Precondition>) {
        let changed = preconditions.iter().filter_map(Precondition::subject);
        let mut subjects: Vec<_> = changed.cloned().collect();
        if subjects.is_empty() {
            subjects.push(self.random.subject());
        }
        for _ in 0..self.random.below(3) {
            subjects.push(self.random.subject());
        }
        let write = async |number| {
            let candidates = subjects.iter().enumerate();
            let candidates = candidates.map(|(part, subject)| candidate(subject, number, part));
            let appended = self
                .store
                .append(candidates.collect(), preconditions.clone());
            let acknowledged = match appended.await {
                Ok(events) => Some(events.iter().map(seen).collect()),
                Err(AppendError::Conflict(_)) => None,
                Err(error) => panic!("a store without troubles has none: {error}"),
            };
            Action::Write {
                subjects,
                preconditions,
                acknowledged,
            }
        };
        self.recorder.record(write).await;
    }
}

fn candidate(subject: &Subject, write: usize, part: usize) -> EventCandidate {
    let data = serde_json::json!({ "write": write, "part": part });
    EventCandidate {
        source: "tag:library-service".into(),
        subject: subject.clone(),
        event_type: "com.example.library.BookPurchasedEvent".parse().unwrap(),
        data: RawValue::from_string(data.to_string()).unwrap(),
        trace: None,
    }
}

fn seen(event: &RecordedEvent) -> ObservedEvent {
    #[derive(Deserialize)]
    struct Data {
        write: usize,
        part: usize,
    }
    let data: Data = serde_json::from_str(event.data.get()).unwrap();
    ObservedEvent {
        id: event.id.get(),
        subject: event.subject.clone(),
        write: data.write,
        part: data.part,
    }
}

async fn read(store: &dyn EventStore, subject: Subject, recursive: bool) -> Vec<ObservedEvent> {
    let options = ReadOptions {
        recursive,
        ..ReadOptions::default()
    };
    let events: Vec<_> = store.read(subject, options).try_collect().await.unwrap();
    events.iter().map(seen).collect()
}

/// Numbers that look random and are the same for the same seed (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }

    fn subject(&mut self) -> Subject {
        SUBJECTS[self.below(SUBJECTS.len())].parse().unwrap()
    }
}
