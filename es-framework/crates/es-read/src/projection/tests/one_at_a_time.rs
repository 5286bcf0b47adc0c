//! A store whose subscription has one event ready at a time, like a connection.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::StreamExt as _;
use serde_json::json;

use super::{PATIENCE, TREES, write};
use crate::projection::{Database, Processor, ReadModels};
use es_event::{EventId, Subject};
use es_store::{EventLog as _, EventStream, ForwardingLog, ObserveOptions, memory::MemoryStore};

#[derive(Debug)]
struct UnbatchedStore(MemoryStore);

impl ForwardingLog for UnbatchedStore {
    fn inner(&self) -> MemoryStore {
        self.0.clone()
    }

    fn observe_events(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        let events = self.0.observe(subject, options);
        let one_at_a_time = events.then(async |event| {
            tokio::task::yield_now().await;
            event
        });
        one_at_a_time.boxed()
    }
}

#[tokio::test]
async fn a_subscription_with_one_event_ready_at_a_time_is_followed_quickly() {
    const EVENTS: usize = 2_000;
    let store = MemoryStore::new();
    let models = ReadModels::new([TREES]).unwrap();
    let database = Database::in_memory(&models).await.unwrap();
    let port = Arc::new(UnbatchedStore(store.clone()));
    let processor = Processor::new(port, database, models);
    let progress = processor.progress();
    let running = tokio::spawn(processor.run());
    let reached = async |id: usize| {
        let id = EventId::new(id.try_into().unwrap());
        progress
            .wait_until_reached(&["trees"], id, PATIENCE)
            .await
            .unwrap();
    };
    // The rebuild is over.
    write(&store, 0, &json!({ "kind": "oak", "numLeaves": 1 })).await;
    reached(0).await;
    let begin = Instant::now();
    for number in 1..EVENTS {
        write(&store, number, &json!({ "kind": "oak", "numLeaves": 1 })).await;
    }
    reached(EVENTS - 1).await;
    // A window for each event would take 30 seconds.
    let time = begin.elapsed();
    assert!(time < Duration::from_secs(5), "{time:?}");
    running.abort();
}
