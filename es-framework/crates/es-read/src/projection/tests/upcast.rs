//! Rows of events that an earlier version of the application stored.

use std::sync::Arc;

use serde_json::json;

use super::{PATIENCE, TREES, TreePlantedEvent, database, held_reasons, rows, write_event};
use crate::prelude::*;
use crate::projection::{Database, Processor, ReadModels};
use es_event::{EventId, UpcasterDescriptor, Upcasters};
use es_store::memory::MemoryStore;
use es_subscribe::SubscriberProgress;

/// An old event for a whole row of trees. Today each tree has its own event.
#[derive(Event)]
#[event(package = "com.example.garden")]
struct TreesPlantedEvent {
    kinds: Vec<String>,
}

#[upcast]
fn each_tree_is_an_event(old: TreesPlantedEvent) -> Vec<TreePlantedEvent> {
    assert!(!old.kinds.is_empty(), "a row without trees");
    let kinds = old.kinds.iter();
    kinds.map(|kind| TreePlantedEvent::new(kind, 1)).collect()
}

async fn write_trees(store: &MemoryStore, subject: &str, kinds: &[&str]) {
    let kinds = kinds.iter().map(|kind| (*kind).to_owned()).collect();
    write_event(store, subject, &TreesPlantedEvent { kinds }).await;
}

fn follow(store: MemoryStore, database: &Database) -> SubscriberProgress {
    let upcasters = Upcasters::new([UpcasterDescriptor::of::<TreesPlantedEvent>()]).unwrap();
    let models = ReadModels::new([TREES]).unwrap();
    let processor = Processor::new(Arc::new(store), database.clone(), models);
    let processor = processor.with_upcasters(upcasters);
    let positions = processor.progress();
    tokio::spawn(processor.run());
    positions.find_progress("trees").unwrap().clone()
}

#[tokio::test]
async fn an_upcaster_that_panics_holds_the_subject_and_all_others_go_on() {
    let (store, database) = (MemoryStore::new(), database().await);
    write_trees(&store, "/trees/t1", &[]).await;
    write_trees(&store, "/trees/t2", &["oak"]).await;
    let progress = follow(store, &database);
    let held = held_reasons(&progress, 1).await;
    assert_eq!(held.len(), 1);
    assert!(held[0].contains("/trees/t1"), "{held:?}");
    assert!(held[0].contains("a row without trees"), "{held:?}");
    assert_eq!(rows(&database).await.len(), 1);
}

#[tokio::test]
async fn an_old_event_is_folded_as_what_it_is_read_as_today() {
    let (store, database) = (MemoryStore::new(), database().await);
    write_trees(&store, "/trees/t1", &["oak", "elm"]).await;
    let progress = follow(store, &database);
    progress
        .wait_until_reached(EventId::new(0), PATIENCE)
        .await
        .unwrap();

    let planted = |kind| json!({ "kind": kind, "numLeaves": 1 }).to_string();
    assert_eq!(rows(&database).await, ["oak", "elm"].map(planted));
}
