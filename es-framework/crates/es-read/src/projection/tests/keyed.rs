//! Read models with keys: for any batches, the rows equal those of a naive fold.

use std::{collections::BTreeMap, sync::Arc};

use proptest::{collection::vec, prelude::*};
use serde_json::value::RawValue;

use super::{PATIENCE, write_event};
use crate::prelude::*;
use crate::{
    projection::{Database, Processor, ReadModelDescriptor, ReadModels},
    query::PageParameters,
};
use es_event::{EventCandidate, EventId};
use es_store::{EventLog as _, memory::MemoryStore};
use es_subscribe::ProgressRegistry;

#[derive(Debug, Clone, Event)]
struct PotFilledEvent {
    plant: String,
    liters: u32,
}

#[derive(Debug, Clone, Event)]
struct PotWateredEvent {
    liters: u32,
}

#[derive(Debug, Clone, Event)]
struct PotEmptiedEvent {}

/// On the gardener's subject, and about a pot.
#[derive(Debug, Clone, Event)]
struct PotGivenEvent {
    pot: u32,
    to: Option<String>,
}

#[derive(Debug, Clone, PartialEq, ReadModel)]
#[read_model(table = "pots", subject = "/pots/{number}")]
struct Pot {
    #[key]
    number: u32,
    plant: String,
    liters: u32,
    owners: Vec<String>,
}

#[projection]
impl Pot {
    fn filled(event: &PotFilledEvent, recorded: &es_event::RecordedEvent) -> Self {
        let number = recorded.subject.as_str().rsplit('/').next();
        Self {
            number: number.and_then(|number| number.parse().ok()).unwrap(),
            plant: event.plant.clone(),
            liters: event.liters,
            owners: vec![],
        }
    }

    fn watered(&mut self, event: PotWateredEvent) {
        self.liters = self
            .liters
            .checked_add(event.liters)
            .expect("the pot overflows");
    }

    fn emptied(self, _: &PotEmptiedEvent) -> Option<Self> {
        None
    }

    #[key(pot)]
    fn given(row: Option<Self>, event: &PotGivenEvent) -> Option<Self> {
        let mut row = row?;
        row.owners.push(event.to.clone()?);
        Some(row)
    }
}

/// The number of gifts to each gardener.
#[derive(Debug, Clone, PartialEq, ReadModel)]
#[read_model(table = "gifts")]
struct Gifts {
    #[key]
    gardener: String,
    count: u32,
}

#[derive(Debug, Clone, Event)]
struct GiftCountedEvent {
    gardener: String,
}

#[projection]
impl Gifts {
    #[key(gardener)]
    fn counted(row: Option<Self>, event: &GiftCountedEvent) -> Option<Self> {
        let before = row.map_or(0, |row| row.count);
        Some(Self {
            gardener: event.gardener.clone(),
            count: before + 1,
        })
    }
}

/// Something that happens to a pot.
#[derive(Debug, Clone)]
enum PotChange {
    Filled(PotFilledEvent),
    Watered(PotWateredEvent),
    Emptied,
    Given(Option<String>),
}

fn change() -> impl Strategy<Value = (u32, PotChange)> {
    let any = prop_oneof![
        3 => ("[a-z]{1,3}", 0..9_u32)
            .prop_map(|(plant, liters)| PotChange::Filled(PotFilledEvent { plant, liters })),
        3 => (0..9_u32).prop_map(|liters| PotChange::Watered(PotWateredEvent { liters })),
        1 => Just(PotChange::Emptied),
        2 => proptest::option::of("[a-z]{1,3}").prop_map(PotChange::Given),
    ];
    (0..4_u32, any)
}

/// Computes the rows with a naive fold, in the order of their creation.
fn naive(history: &[(u32, PotChange)]) -> Vec<Pot> {
    let mut pots: BTreeMap<u32, (usize, Pot)> = BTreeMap::new();
    for (place, (number, change)) in history.iter().enumerate() {
        match change {
            PotChange::Filled(event) => {
                let pot = Pot {
                    number: *number,
                    plant: event.plant.clone(),
                    liters: event.liters,
                    owners: vec![],
                };
                let first = pots.get(number).map_or(place, |(first, _)| *first);
                pots.insert(*number, (first, pot));
            }
            PotChange::Watered(event) => {
                if let Some((_, pot)) = pots.get_mut(number) {
                    pot.liters += event.liters;
                }
            }
            PotChange::Emptied | PotChange::Given(None) => {
                pots.remove(number);
            }
            PotChange::Given(Some(owner)) => {
                if let Some((_, pot)) = pots.get_mut(number) {
                    pot.owners.push(owner.clone());
                }
            }
        }
    }
    let mut pots: Vec<_> = pots.into_values().collect();
    pots.sort_by_key(|(place, _)| *place);
    pots.into_iter().map(|(_, pot)| pot).collect()
}

async fn record(store: &MemoryStore, number: u32, change: &PotChange) {
    let pot = format!("/pots/{number}");
    match change {
        PotChange::Filled(event) => write_event(store, &pot, event).await,
        PotChange::Watered(event) => write_event(store, &pot, event).await,
        PotChange::Emptied => write_event(store, &pot, &PotEmptiedEvent {}).await,
        PotChange::Given(to) => {
            let to = to.clone();
            let event = PotGivenEvent { pot: number, to };
            write_event(store, "/gardeners/1", &event).await;
        }
    }
}

fn models() -> ReadModels {
    let pots = ReadModelDescriptor::of::<Pot>();
    ReadModels::new([pots, ReadModelDescriptor::of::<Gifts>()]).unwrap()
}

fn follow(
    store: &MemoryStore,
    database: &Database,
) -> (ProgressRegistry, tokio::task::JoinHandle<()>) {
    let processor = Processor::new(Arc::new(store.clone()), database.clone(), models());
    let positions = processor.progress();
    (positions, tokio::spawn(processor.run()))
}

async fn rows<R: crate::projection::ReadModel>(database: &Database) -> Vec<R> {
    let context = QueryContext::new(database, PageParameters::default(), Timestamp::now());
    context.rows::<R>().all(1_000).await.unwrap()
}

async fn rows_after(history: &[(u32, PotChange)], batch: usize) -> Vec<Pot> {
    let store = MemoryStore::new();
    let database = Database::in_memory(&models()).await.unwrap();
    let mut written = 0;
    for events in history.chunks(batch.max(1)) {
        for (number, change) in events {
            record(&store, *number, change).await;
        }
        // Each batch has a new processor, which continues from the rows and checkpoint of the previous one.
        let (positions, following) = follow(&store, &database);
        written += events.len();
        let last = EventId::new(u64::try_from(written - 1).unwrap());
        positions
            .wait_until_reached(&[], last, PATIENCE)
            .await
            .unwrap();
        following.abort();
        let _ = following.await;
    }
    rows(&database).await
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn rows_are_those_of_a_naive_fold_whatever_the_batches(
        history in vec(change(), 1..40),
        batch in 1..20_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let rows = runtime.block_on(rows_after(&history, batch));
        prop_assert_eq!(rows, naive(&history));
    }
}

fn filled(liters: u32) -> PotFilledEvent {
    PotFilledEvent {
        plant: "fern".into(),
        liters,
    }
}

async fn fill_and_count(store: &MemoryStore) {
    write_event(store, "/pots/1", &filled(1)).await;
    let gardener = "ada".to_owned();
    write_event(store, "/gifts", &GiftCountedEvent { gardener }).await;
}

#[tokio::test]
async fn a_poison_event_holds_its_own_row_and_no_other() {
    let store = MemoryStore::new();
    let database = Database::in_memory(&models()).await.unwrap();
    fill_and_count(&store).await;
    let text = RawValue::from_string(r#"{"metadata":{},"payload":{"liters":-1}}"#.into());
    super::write_raw(&store, "/pots/1", PotWateredEvent::TYPE, text.unwrap()).await;
    fill_and_count(&store).await;
    write_event(&store, "/pots/2", &filled(7)).await;
    // On another subject, and about the held pot.
    let given = PotGivenEvent {
        pot: 1,
        to: Some("ada".into()),
    };
    write_event(&store, "/gardeners/1", &given).await;
    let (positions, _) = follow(&store, &database);
    let pots = positions.find_progress("pots").unwrap();
    let held = super::held_reasons(pots, 6).await;
    assert_eq!(held.len(), 1);
    assert!(held[0].contains("event 2 on /pots/1"), "{held:?}");
    assert_eq!(pots.held_keys().iter().next().unwrap().events, 3);
    let rows_of_pots = rows::<Pot>(&database).await;
    let liters: Vec<_> = rows_of_pots.iter().map(|pot| pot.liters).collect();
    assert_eq!(liters, [1, 7]);
    assert!(rows_of_pots[0].owners.is_empty());
    assert_eq!(rows::<Gifts>(&database).await[0].count, 2);
}

#[tokio::test]
async fn an_event_that_does_not_tell_its_row_holds_the_rows_of_its_subject() {
    let store = MemoryStore::new();
    let database = Database::in_memory(&models()).await.unwrap();
    fill_and_count(&store).await;
    write_event(&store, "/pots/2", &filled(7)).await;
    let text = RawValue::from_string(r#"{"metadata":{},"payload":{"pot":"one"}}"#.into());
    super::write_raw(&store, "/gardeners/1", PotGivenEvent::TYPE, text.unwrap()).await;
    for (subject, pot) in [("/gardeners/1", 1), ("/gardeners/2", 2)] {
        let to = Some("ada".to_owned());
        write_event(&store, subject, &PotGivenEvent { pot, to }).await;
    }
    let (positions, _) = follow(&store, &database);
    let pots = positions.find_progress("pots").unwrap();
    super::held_reasons(pots, 5).await;
    let held = pots.held_keys();
    let mut keys: Vec<_> = held.iter().map(|held| held.key.as_str()).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["/gardeners/1", "1"]);
    assert_eq!(held.group_by_failure().len(), 1);
    let owners: Vec<_> = rows::<Pot>(&database)
        .await
        .into_iter()
        .map(|pot| pot.owners.len())
        .collect();
    assert_eq!(owners, [0, 1]);
}

#[tokio::test]
async fn a_projection_that_panics_holds_its_row_with_what_came_before() {
    let store = MemoryStore::new();
    let database = Database::in_memory(&models()).await.unwrap();
    fill_and_count(&store).await;
    write_event(&store, "/pots/1", &PotWateredEvent { liters: 2 }).await;
    write_event(&store, "/pots/1", &PotWateredEvent { liters: u32::MAX }).await;
    let (positions, _) = follow(&store, &database);
    let held = super::held_reasons(positions.find_progress("pots").unwrap(), 3).await;
    assert!(held[0].contains("event 3"), "{held:?}");
    assert!(held[0].contains("the pot overflows"), "{held:?}");
    assert_eq!(rows::<Pot>(&database).await[0].liters, 3);
}

#[tokio::test]
async fn an_event_whose_subject_is_no_key_holds_its_subject() {
    let store = MemoryStore::new();
    let database = Database::in_memory(&models()).await.unwrap();
    write_event(&store, "/pots/seven", &filled(1)).await;
    let (positions, _) = follow(&store, &database);
    let held = super::held_reasons(positions.find_progress("pots").unwrap(), 0).await;
    assert!(held[0].contains("\"seven\" is no key"), "{held:?}");
}

#[tokio::test]
async fn a_row_that_many_batches_change_misses_no_change() {
    let (store, database) = (
        MemoryStore::new(),
        Database::in_memory(&models()).await.unwrap(),
    );
    fill_and_count(&store).await;
    let watered = super::candidate("/pots/1", &PotWateredEvent { liters: 1 });
    let broken = EventCandidate {
        data: RawValue::from_string(r#"{"metadata":{},"payload":{"liters":-1}}"#.into()).unwrap(),
        ..watered.clone()
    };
    for candidates in [
        vec![watered.clone(); 6_999],
        vec![broken],
        vec![watered; 99],
    ] {
        store.append(candidates, vec![]).await.unwrap();
    }
    let (positions, _) = follow(&store, &database);
    let pots = positions.find_progress("pots").unwrap();
    let held = super::held_reasons(pots, 7_100).await;
    assert!(held[0].contains("event 7001 on /pots/1"), "{held:?}");
    assert_eq!(pots.held_keys().iter().next().unwrap().events, 100);
    assert_eq!(rows::<Pot>(&database).await[0].liters, 7_000);
}
