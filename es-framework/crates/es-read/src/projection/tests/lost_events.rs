//! A failover loses events while the read models are subscribed.

use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use serde_json::json;
use tokio::sync::watch;

use super::{PATIENCE, TREES, write};
use crate::projection::{Database, Processor, QueryCost, ReadModels};
use es_event::{EventId, Subject};
use es_store::{EventLog, EventStream, ForwardingLog, ObserveOptions, memory::MemoryStore};

/// A store that another one can replace. This ends the subscriptions.
#[derive(Debug)]
struct ReplaceableStore {
    current: Mutex<MemoryStore>,
    replacements: watch::Sender<u32>,
}

impl ReplaceableStore {
    fn replace(&self, other: &MemoryStore) {
        *self.current.lock().unwrap() = other.clone();
        self.replacements.send_modify(|count| *count += 1);
    }
}

impl ForwardingLog for ReplaceableStore {
    fn inner(&self) -> MemoryStore {
        self.current.lock().unwrap().clone()
    }

    fn observe_events(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        let mut replaced = self.replacements.subscribe();
        let events = self.inner().observe(subject, options);
        let end = async move { replaced.changed().await.is_ok() };
        events.take_until(Box::pin(end)).boxed()
    }
}

#[tokio::test]
async fn a_read_model_with_lost_events_is_rebuilt() {
    let (before, after) = (MemoryStore::new(), MemoryStore::new());
    for (number, kind) in ["oak", "elm"].into_iter().enumerate() {
        write(&before, number, &json!({ "kind": kind, "numLeaves": 1 })).await;
    }
    // The new log has other events with the same ids, and more of them.
    for number in 0..3 {
        write(&after, number, &json!({ "kind": "ash", "numLeaves": 1 })).await;
    }
    let models = ReadModels::new([TREES]).unwrap();
    let database = Database::in_memory(&models).await.unwrap();
    let store = Arc::new(ReplaceableStore {
        current: Mutex::new(before),
        replacements: watch::Sender::new(0),
    });
    let port: Arc<dyn EventLog> = Arc::<ReplaceableStore>::clone(&store);
    let processor = Processor::new(port, database.clone(), models);
    let progress = processor.progress();
    let running = tokio::spawn(processor.run());
    let last = EventId::new(1);
    progress
        .wait_until_reached(&["trees"], last, PATIENCE)
        .await
        .unwrap();

    store.replace(&after);
    let last = EventId::new(2);
    progress
        .wait_until_reached(&["trees"], last, PATIENCE)
        .await
        .unwrap();
    let rows = |kind| format!("SELECT count(*) FROM trees WHERE kind = '{kind}'");
    for (kind, count) in [("oak", 0), ("elm", 0), ("ash", 3)] {
        assert_eq!(
            database
                .fetch_count(QueryCost::Page, rows(kind), vec![])
                .await
                .unwrap(),
            count
        );
    }
    running.abort();
}
