//! Rows of events that an earlier version of the application stored.

use std::sync::Arc;

use serde_json::json;

use super::{PATIENCE, TREES, TreePlantedEvent, database, rows, write_event};
use crate::prelude::*;
use crate::projection::{Processor, ReadModels};
use es_event::{EventId, UpcasterDescriptor, Upcasters};
use es_store::memory::MemoryStore;

/// An old event for a whole row of trees. Today each tree has its own event.
#[derive(Event)]
#[event(package = "com.example.garden")]
struct TreesPlantedEvent {
    kinds: Vec<String>,
}

#[upcast]
fn each_tree_is_an_event(old: TreesPlantedEvent) -> Vec<TreePlantedEvent> {
    let kinds = old.kinds.iter();
    kinds.map(|kind| TreePlantedEvent::new(kind, 1)).collect()
}

#[tokio::test]
async fn an_old_event_is_folded_as_what_it_is_read_as_today() {
    let (store, database) = (MemoryStore::new(), database().await);
    let kinds = ["oak", "elm"].map(str::to_owned).to_vec();
    write_event(&store, "/trees/t1", &TreesPlantedEvent { kinds }).await;
    let upcasters = Upcasters::new([UpcasterDescriptor::of::<TreesPlantedEvent>()]).unwrap();
    let models = ReadModels::new([TREES]).unwrap();
    let processor = Processor::new(Arc::new(store), database.clone(), models);
    let processor = processor.with_upcasters(upcasters);
    let positions = processor.progress();
    tokio::spawn(processor.run());
    let progress = positions.find_progress("trees").unwrap();
    progress
        .wait_until_reached(EventId::new(0), PATIENCE)
        .await
        .unwrap();

    let planted = |kind| json!({ "kind": kind, "numLeaves": 1 }).to_string();
    assert_eq!(rows(&database).await, ["oak", "elm"].map(planted));
}
