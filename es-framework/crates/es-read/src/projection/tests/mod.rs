//! The processor over events in memory.

mod beside;
mod damaged_store;
mod damaged_tables;
mod erasures;
mod held_row_storage;
mod keyed;
mod long_texts;
mod lost_events;
mod one_at_a_time;
mod poison_events;
mod refused;
mod search_index;
mod upcast;

use std::{sync::Arc, time::Duration};

use serde_json::{json, value::RawValue};

use super::{Database, Processor, ReadModels};
use crate::query::{self, QueryParameters};
use crate::{prelude::*, projection::ReadModelDescriptor};
use es_event::{Event, EventCandidate, EventId, Metadata};
use es_store::{EventLog as _, memory::MemoryStore};
use es_subscribe::{ProgressRegistry, SubscriberProgress};

#[derive(Event)]
#[event(package = "com.example.garden", read_model = "trees")]
struct TreePlantedEvent {
    kind: String,
    num_leaves: i64,
}

impl TreePlantedEvent {
    fn new(kind: &str, num_leaves: i64) -> Self {
        let kind = kind.to_owned();
        Self { kind, num_leaves }
    }
}

const TREES: ReadModelDescriptor = ReadModelDescriptor::of_events::<TreePlantedEvent>();

const PATIENCE: Duration = Duration::from_secs(10);

async fn write(store: &MemoryStore, id: usize, payload: &serde_json::Value) {
    let data = es_event::encode(&Metadata::default(), payload).unwrap();
    write_data(store, id, data).await;
}

async fn write_data(store: &MemoryStore, id: usize, data: Box<RawValue>) {
    write_raw(store, &format!("/trees/{id}"), TreePlantedEvent::TYPE, data).await;
}

async fn write_event<E: Event>(store: &MemoryStore, subject: &str, event: &E) {
    let candidate = candidate(subject, event);
    store.append(vec![candidate], vec![]).await.unwrap();
}

async fn write_raw(store: &MemoryStore, subject: &str, event_type: &str, data: Box<RawValue>) {
    let candidate = raw_candidate(subject, event_type, data);
    store.append(vec![candidate], vec![]).await.unwrap();
}

fn candidate<E: Event>(subject: &str, event: &E) -> EventCandidate {
    let data = es_event::encode(&Metadata::default(), event).unwrap();
    raw_candidate(subject, E::TYPE, data)
}

fn raw_candidate(subject: &str, event_type: &str, data: Box<RawValue>) -> EventCandidate {
    EventCandidate {
        source: "garden".into(),
        subject: subject.parse().unwrap(),
        event_type: event_type.parse().unwrap(),
        data,
        trace: None,
    }
}

async fn database() -> Database {
    Database::in_memory(&ReadModels::new([TREES]).unwrap())
        .await
        .unwrap()
}

fn follow(store: &MemoryStore, database: &Database) -> SubscriberProgress {
    let models = ReadModels::new([TREES]).unwrap();
    let processor = Processor::new(Arc::new(store.clone()), database.clone(), models);
    let positions: ProgressRegistry = processor.progress();
    tokio::spawn(processor.run());
    positions.find_progress("trees").unwrap().clone()
}

async fn rows(database: &Database) -> Vec<String> {
    let trees = database.find_table("trees").unwrap();
    let parameters = QueryParameters::new([("limit".into(), "1000".into())]).unwrap();
    let page = query::browse_events(database, trees, parameters)
        .await
        .unwrap();
    page.items.iter().map(|row| row.get().to_owned()).collect()
}

#[tokio::test]
async fn a_replay_changes_nothing() {
    let (store, database) = (MemoryStore::new(), database().await);
    for number in 0..20 {
        write(
            &store,
            number,
            &json!({ "kind": "oak", "numLeaves": number }),
        )
        .await;
    }
    let last = EventId::new(19);
    follow(&store, &database)
        .wait_until_reached(last, PATIENCE)
        .await
        .unwrap();
    let once = rows(&database).await;
    assert_eq!(once.len(), 20);
    database.forget_position("trees").await.unwrap();
    follow(&store, &database)
        .wait_until_reached(last, PATIENCE)
        .await
        .unwrap();
    assert_eq!(rows(&database).await, once);
}

#[tokio::test]
async fn a_second_processor_goes_on_from_the_checkpoint() {
    let (store, database) = (MemoryStore::new(), database().await);
    write(&store, 0, &json!({ "kind": "oak", "numLeaves": 1 })).await;
    let first = follow(&store, &database);
    first
        .wait_until_reached(EventId::new(0), PATIENCE)
        .await
        .unwrap();
    let second = follow(&store, &database);
    second
        .wait_until_reached(EventId::new(0), PATIENCE)
        .await
        .unwrap();
    write(&store, 1, &json!({ "kind": "elm", "numLeaves": 2 })).await;
    second
        .wait_until_reached(EventId::new(1), PATIENCE)
        .await
        .unwrap();
    assert_eq!(rows(&database).await.len(), 2);
}

/// Waits for an event, and returns the reasons for which rows are held.
async fn held_reasons(progress: &SubscriberProgress, last: u64) -> Vec<String> {
    let reached = progress.wait_until_reached(EventId::new(last), PATIENCE);
    reached.await.unwrap();
    let held = progress.held_keys();
    held.iter().map(|held| held.poison.to_string()).collect()
}

#[tokio::test]
async fn an_event_that_does_not_fit_is_named_and_other_events_are_applied() {
    let (store, database) = (MemoryStore::new(), database().await);
    write(&store, 0, &json!({ "kind": "oak", "numLeaves": 1 })).await;
    write(&store, 1, &json!({ "kind": "elm", "numLeaves": "many" })).await;
    write(&store, 2, &json!({ "kind": "ash", "numLeaves": 3 })).await;
    let progress = follow(&store, &database);
    let held = held_reasons(&progress, 2).await;
    assert_eq!(held.len(), 1);
    assert!(held[0].contains("event 1 on /trees/1"), "{held:?}");
    assert_eq!(
        rows(&database).await,
        [
            r#"{"kind":"oak","numLeaves":1}"#,
            r#"{"kind":"ash","numLeaves":3}"#
        ]
    );
}

#[tokio::test]
async fn an_event_without_a_payload_is_named() {
    let (store, database) = (MemoryStore::new(), database().await);
    write_data(&store, 0, RawValue::from_string("{}".into()).unwrap()).await;
    let progress = follow(&store, &database);
    let held = held_reasons(&progress, 0).await;
    assert!(held[0].contains("event 0"), "{held:?}");
}

#[test]
fn two_read_models_of_one_name_are_refused_with_both_places() {
    let mut other = TREES;
    other.declaration.line += 1;
    let refused = ReadModels::new([TREES, other]).unwrap_err();
    let message = refused.to_string();
    for (_, place) in [refused.first, refused.second] {
        assert!(message.contains(&place.to_string()), "{message}");
    }
}
