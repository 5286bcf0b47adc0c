//! Many subjects with poison events of five kinds: only their rows wait, and a retry brings each of them up to date.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde::Deserialize;

use super::candidate;
use crate::prelude::*;
use crate::{
    projection::{
        Database, DatabaseUrl, Processor, Project, ProjectionError, ReadModelDescriptor,
        ReadModels, RowChange, RowKey,
    },
    query::{PageParameters, QueryContext},
};
use es_event::{Declaration, EventCandidate, EventId, EventSelection, EventView};
use es_store::{EventLog as _, memory::MemoryStore};
use es_subscribe::{
    SubscriberProgress,
    operator::{OperatorClient, OperatorCommand, OperatorOutcome},
};

pub(super) const PATIENCE: Duration = Duration::from_secs(600);
/// The kinds of poison events.
const FAULTS: [&str; 5] = ["mistyped", "incomplete", "panics", "other key", "no number"];
const POISON_EVENTS: u32 = 50;

/// True when the code of the projection is corrected.
pub(super) static IS_FIXED: AtomicBool = AtomicBool::new(false);

/// One test at a time changes `IS_FIXED`.
pub(super) static ONE_AT_A_TIME: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

#[derive(Debug, Clone, Event)]
pub(super) struct SackFilledEvent {
    grams: i64,
    pub(super) fault: Option<String>,
}

#[derive(Debug, Clone, PartialEq, ReadModel)]
#[read_model(table = "sacks", subject = "/sacks/{number}")]
pub(super) struct Sack {
    #[key]
    number: u32,
    grams: i64,
    fillings: i64,
    mean: f64,
}

/// Payloads that today's events do not fit.
#[derive(Debug, Deserialize)]
#[allow(dead_code)]
struct MistypedPayload {
    grams: bool,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
struct IncompletePayload {
    liters: i64,
}

impl Project for Sack {
    const EVENTS: &'static [&'static str] = &[SackFilledEvent::TYPE];
    const EVENTS_OF_SUBJECT: &'static [&'static str] = &[SackFilledEvent::TYPE];
    const PROJECTION: Declaration = SackFilledEvent::DECLARATION;

    fn changes(event: &EventView<'_>) -> Result<Vec<RowChange<Self>>, ProjectionError> {
        if !event.is::<SackFilledEvent>() {
            return Ok(Vec::new());
        }
        let filled: SackFilledEvent = event.payload()?;
        let fault = filled.fault.clone().unwrap_or_default();
        if !IS_FIXED.load(Ordering::Relaxed) {
            match fault.as_str() {
                "mistyped" => event.payload::<MistypedPayload>().map(|_| ())?,
                "incomplete" => event.payload::<IncompletePayload>().map(|_| ())?,
                _ => {}
            }
        }
        let number = event.recorded().subject.as_str().rsplit('/').next();
        let number: u32 = number.and_then(|number| number.parse().ok()).unwrap();
        let change = move |row: Option<Self>| Some(fill(row, number, &filled));
        Ok(vec![RowChange::compute(
            RowKey::from_value(&number)?,
            change,
        )])
    }
}

/// Computes a row, with the faults of code that is not corrected yet.
fn fill(row: Option<Sack>, number: u32, event: &SackFilledEvent) -> Sack {
    let fault = event.fault.as_deref();
    let fault = fault.filter(|_| !IS_FIXED.load(Ordering::Relaxed));
    assert_ne!(fault, Some("panics"), "the sack bursts");
    let mut sack = fill_soundly(row, number, event.grams);
    if fault == Some("other key") {
        sack.number += 1;
    }
    if fault == Some("no number") {
        sack.mean = f64::NAN;
    }
    sack
}

/// Computes a row as correct code does. A mean that is no number stays so.
fn fill_soundly(row: Option<Sack>, number: u32, added: i64) -> Sack {
    let (grams, fillings, mean) =
        row.map_or((0, 0, 0.0), |row| (row.grams, row.fillings, row.mean));
    let fillings = fillings + 1;
    #[allow(clippy::cast_precision_loss)]
    let mean = mean + (added as f64 - mean) / fillings as f64;
    Sack {
        number,
        grams: grams + added,
        fillings,
        mean,
    }
}

pub(super) struct Warehouse {
    database: Database,
    pub(super) progress: SubscriberProgress,
    operator: OperatorClient,
    task: tokio::task::JoinHandle<()>,
}

impl Warehouse {
    pub(super) async fn open(store: &MemoryStore, file: &Path) -> Self {
        let models = ReadModels::new([ReadModelDescriptor::of::<Sack>()]).unwrap();
        let url = DatabaseUrl::File(file.to_owned());
        let database = Database::open(&url, &models).await.unwrap();
        let processor = Processor::new(Arc::new(store.clone()), database.clone(), models);
        let progress = processor.progress();
        let progress = progress.find_progress("sacks").unwrap().clone();
        let operator = processor.operator_client();
        let task = tokio::spawn(processor.run());
        Self {
            database,
            progress,
            operator,
            task,
        }
    }

    pub(super) async fn reach(&self, events: usize) {
        let last = EventId::new(u64::try_from(events - 1).unwrap());
        let reached = self.progress.wait_until_reached(last, PATIENCE);
        reached.await.unwrap();
    }

    pub(super) async fn rows(&self) -> BTreeMap<u32, Sack> {
        let now = Timestamp::now();
        let context = QueryContext::new(&self.database, PageParameters::default(), now);
        let rows = context.rows::<Sack>().all(u32::MAX).await.unwrap();
        rows.into_iter().map(|row| (row.number, row)).collect()
    }

    pub(super) async fn operate(
        &self,
        command: OperatorCommand,
        selection: Option<EventSelection>,
    ) -> OperatorOutcome {
        let sent = self.operator.send_selection("sacks", command, selection);
        sent.await.unwrap()
    }

    pub(super) async fn stop(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

/// The events of the sacks: several rounds of fillings, and in the middle the poison events.
pub(super) fn history(sacks: u32, rounds: u32) -> Vec<(u32, SackFilledEvent)> {
    let filling = |fault: Option<&str>, grams: u32| SackFilledEvent {
        grams: i64::from(grams),
        fault: fault.map(str::to_owned),
    };
    let round = |number: u32| (0..sacks).map(move |sack| (sack, filling(None, number + sack % 7)));
    let poison = (0..POISON_EVENTS).map(|number| {
        let fault = FAULTS[number as usize % FAULTS.len()];
        // Far apart, so that most batches have none of them.
        (number * (sacks / POISON_EVENTS), filling(Some(fault), 1))
    });
    let half = rounds / 2;
    let before = (0..half).flat_map(round);
    let after = (half..rounds).flat_map(round);
    before.chain(poison).chain(after).collect()
}

pub(super) async fn record(store: &MemoryStore, history: &[(u32, SackFilledEvent)]) {
    let of = |(sack, event): &(u32, SackFilledEvent)| candidate(&format!("/sacks/{sack}"), event);
    for events in history.chunks(5_000) {
        let candidates: Vec<EventCandidate> = events.iter().map(of).collect();
        store.append(candidates, vec![]).await.unwrap();
    }
}

/// Computes the rows that correct code computes of some events.
pub(super) fn fold<'a>(
    history: impl Iterator<Item = &'a (u32, SackFilledEvent)>,
) -> BTreeMap<u32, Sack> {
    let mut sacks: BTreeMap<u32, Sack> = BTreeMap::new();
    for (number, event) in history {
        let before = sacks.remove(number);
        sacks.insert(*number, fill_soundly(before, *number, event.grams));
    }
    sacks
}

/// Returns the rows if each sack with a poison event takes only what came before it.
pub(super) fn fold_until_poison(history: &[(u32, SackFilledEvent)]) -> BTreeMap<u32, Sack> {
    let mut held = std::collections::BTreeSet::new();
    let taken = history.iter().filter(|(sack, event)| {
        if event.fault.is_some() {
            held.insert(*sack);
        }
        !held.contains(sack)
    });
    fold(taken)
}

/// Recorded events of sacks, some of which the code cannot handle. No other test runs meanwhile.
pub(super) struct PoisonedSacks {
    pub(super) history: Vec<(u32, SackFilledEvent)>,
    pub(super) store: MemoryStore,
    folder: tempfile::TempDir,
    _alone: tokio::sync::MutexGuard<'static, ()>,
}

impl PoisonedSacks {
    pub(super) async fn record(sacks: u32, rounds: u32) -> Self {
        let alone = ONE_AT_A_TIME.lock().await;
        IS_FIXED.store(false, Ordering::Relaxed);
        let (history, store) = (history(sacks, rounds), MemoryStore::new());
        record(&store, &history).await;
        Self {
            history,
            store,
            folder: tempfile::tempdir().unwrap(),
            _alone: alone,
        }
    }

    /// Opens the warehouse, and waits until it has applied all events.
    pub(super) async fn open_warehouse(&self) -> Warehouse {
        let file = self.folder.path().join("sacks.db");
        let warehouse = Warehouse::open(&self.store, &file).await;
        warehouse.reach(self.history.len()).await;
        warehouse
    }
}

async fn hold_and_release(sacks: u32, rounds: u32) {
    let poisoned = PoisonedSacks::record(sacks, rounds).await;
    let (history, store) = (&poisoned.history, &poisoned.store);
    let begin = std::time::Instant::now();
    let warehouse = poisoned.open_warehouse().await;
    println!(
        "{} events with {POISON_EVENTS} held rows: {:?}",
        history.len(),
        begin.elapsed()
    );
    assert_eq!(warehouse.progress.state().name(), "working");
    assert_eq!(warehouse.rows().await, fold_until_poison(history));
    let held = warehouse.progress.held_keys();
    assert_eq!(held.len(), POISON_EVENTS as usize);
    // The operator sees five groups.
    let groups = held.group_by_failure();
    assert_eq!(groups.len(), FAULTS.len(), "{groups:#?}");
    for group in &groups {
        assert_eq!(group.keys, 10);
        assert_eq!(group.events, 10 * (1 + u64::from(rounds - rounds / 2)));
        assert!(group.first <= group.last);
    }
    // A restart holds the same rows, and a retry with the same code changes nothing.
    warehouse.stop().await;
    let warehouse = poisoned.open_warehouse().await;
    let nothing = warehouse.operate(OperatorCommand::Retry, None).await;
    assert_eq!((nothing.retried, nothing.released), (50, 0));
    assert_eq!(warehouse.progress.held_keys().group_by_failure(), groups);
    assert_eq!(warehouse.rows().await, fold_until_poison(history));

    IS_FIXED.store(true, Ordering::Relaxed);
    let one = EventSelection::Key {
        key: groups[0].some_keys[0].clone(),
    };
    let released = warehouse.operate(OperatorCommand::Retry, Some(one)).await;
    assert_eq!((released.retried, released.released), (1, 1));
    let alike = EventSelection::Fingerprint {
        fingerprint: groups[1].fingerprint.clone(),
    };
    let released = warehouse.operate(OperatorCommand::Retry, Some(alike)).await;
    assert_eq!((released.retried, released.released), (10, 10));
    let begin = std::time::Instant::now();
    let released = warehouse.operate(OperatorCommand::Retry, None).await;
    assert_eq!((released.retried, released.released), (39, 39));
    println!("a retry of 39 rows: {:?}", begin.elapsed());
    assert_eq!(warehouse.rows().await, fold(history.iter()));
    assert!(warehouse.progress.held_keys().is_empty());
    // Later events find their rows.
    let later = (0, history[0].1.clone());
    record(store, std::slice::from_ref(&later)).await;
    warehouse.reach(history.len() + 1).await;
    assert_eq!(warehouse.rows().await, fold(history.iter().chain([&later])));
}

#[tokio::test]
async fn only_rows_with_a_poison_event_wait_and_a_retry_brings_them_up_to_date() {
    hold_and_release(500, 6).await;
}

#[tokio::test]
#[ignore = "takes a minute: a million events of 100,000 subjects"]
async fn only_rows_with_a_poison_event_wait_among_a_million_events() {
    hold_and_release(100_000, 10).await;
}

#[tokio::test]
async fn a_start_with_corrected_code_releases_rows_without_a_command() {
    let poisoned = PoisonedSacks::record(100, 2).await;
    let warehouse = poisoned.open_warehouse().await;
    assert_eq!(warehouse.progress.held_keys().len(), 50);
    warehouse.stop().await;
    IS_FIXED.store(true, Ordering::Relaxed);
    let warehouse = poisoned.open_warehouse().await;
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !warehouse.progress.held_keys().is_empty() {
        assert!(tokio::time::Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert_eq!(warehouse.rows().await, fold(poisoned.history.iter()));
}

#[tokio::test]
async fn a_skipped_poison_event_releases_its_row_for_later_events() {
    let poisoned = PoisonedSacks::record(100, 2).await;
    let warehouse = poisoned.open_warehouse().await;
    let all = warehouse.operate(OperatorCommand::Skip, None).await;
    assert_eq!((all.retried, all.released), (50, 50));
    let sound = poisoned
        .history
        .iter()
        .filter(|(_, event)| event.fault.is_none());
    assert_eq!(warehouse.rows().await, fold(sound));
}
