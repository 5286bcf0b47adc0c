//! Erasures of personal data, which rebuild the rows that may hold it.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::json;
use tokio::{task::JoinHandle, time::timeout};

use super::{PATIENCE, write_event, write_raw};
use crate::prelude::*;
use crate::projection::{Database, DatabaseUrl, Processor, ReadModelDescriptor, ReadModels};
use es_event::{EventId, Hash};
use es_store::{latest_event, memory::MemoryStore};
use es_subscribe::SubscriberProgress;

const SUBJECT: &str = "/es-framework/personal-data";

#[derive(Debug, Event)]
struct GuestSeatedEvent {
    seat: u32,
}

#[derive(Debug, Clone, PartialEq, ReadModel)]
#[read_model(table = "guests", subject = "/guests/{number}")]
struct Guest {
    #[key]
    number: u32,
    seat: u32,
}

/// The number of events that the projection has applied.
static APPLIED: AtomicUsize = AtomicUsize::new(0);

/// One test at a time counts them.
static ONE_AT_A_TIME: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

#[projection]
impl Guest {
    fn seated(event: &GuestSeatedEvent, recorded: &es_event::RecordedEvent) -> Self {
        APPLIED.fetch_add(1, Ordering::SeqCst);
        let number = recorded.subject.as_str().rsplit('/').next();
        Self {
            number: number.and_then(|number| number.parse().ok()).unwrap(),
            seat: event.seat,
        }
    }
}

struct Restaurant {
    store: MemoryStore,
    folder: tempfile::TempDir,
}

struct RunningProcessor {
    progress: SubscriberProgress,
    task: JoinHandle<()>,
}

impl Restaurant {
    async fn with_guests(count: u32) -> Self {
        APPLIED.store(0, Ordering::SeqCst);
        let restaurant = Self {
            store: MemoryStore::new(),
            folder: tempfile::tempdir().unwrap(),
        };
        for number in 0..count {
            restaurant.seat(number).await;
        }
        restaurant
    }

    async fn seat(&self, number: u32) {
        let event = GuestSeatedEvent { seat: number };
        write_event(&self.store, &format!("/guests/{number}"), &event).await;
    }

    /// Announces an erasure, and returns its hash.
    async fn announce(&self, person: u32) -> Hash {
        let data = json!({ "metadata": {}, "payload": {} });
        write_raw(
            &self.store,
            &format!("{SUBJECT}/{person}"),
            "com.example.PersonErasedEvent",
            serde_json::value::to_raw_value(&data).unwrap(),
        )
        .await;
        let announced = latest_event(&self.store, SUBJECT.parse().unwrap(), true).await;
        announced.unwrap().unwrap().hash
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("rows.sqlite")
    }

    /// Starts a processor, and waits until the last event is applied.
    async fn start(&self, last: u64) -> RunningProcessor {
        let running = RunningProcessor::start(&self.store, &self.file()).await;
        let reached = running
            .progress
            .wait_until_reached(EventId::new(last), PATIENCE);
        reached.await.unwrap();
        running
    }
}

impl RunningProcessor {
    async fn start(store: &MemoryStore, file: &Path) -> Self {
        let models = ReadModels::new([ReadModelDescriptor::of::<Guest>()]).unwrap();
        let url = DatabaseUrl::File(file.to_owned());
        let database = Database::open(&url, &models).await.unwrap();
        let processor = Processor::new(Arc::new(store.clone()), database, models)
            .with_personal_events(|event_type| event_type == GuestSeatedEvent::TYPE);
        let progress = processor.personal_read_models().next().unwrap();
        let task = tokio::spawn(processor.run());
        Self { progress, task }
    }

    async fn wait_for(&self, erasure: Hash) {
        let built = self.progress.wait_until_built_after(erasure);
        timeout(PATIENCE, built).await.unwrap();
    }

    async fn end(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

#[tokio::test]
async fn an_announcement_rebuilds_the_rows_once() {
    let _one = ONE_AT_A_TIME.lock().await;
    let restaurant = Restaurant::with_guests(3).await;
    let running = restaurant.start(2).await;
    let first = restaurant.announce(7).await;
    running.wait_for(first).await;
    assert_eq!(APPLIED.load(Ordering::SeqCst), 6);
    // Later events leave the mark in its place.
    restaurant.seat(4).await;
    let reached = running
        .progress
        .wait_until_reached(EventId::new(4), PATIENCE);
    reached.await.unwrap();
    running.end().await;
    let again = restaurant.start(4).await;
    again.wait_for(first).await;
    assert_eq!(
        APPLIED.load(Ordering::SeqCst),
        7,
        "nothing is rebuilt at a start"
    );
    again.end().await;
}

#[tokio::test]
async fn an_instance_that_was_down_rebuilds_its_rows_once_after_its_start() {
    let _one = ONE_AT_A_TIME.lock().await;
    let restaurant = Restaurant::with_guests(3).await;
    restaurant.start(2).await.end().await;
    restaurant.announce(7).await;
    let last = restaurant.announce(8).await;
    let running = restaurant.start(2).await;
    running.wait_for(last).await;
    assert_eq!(APPLIED.load(Ordering::SeqCst), 6, "both erasures at once");
    running.end().await;
}

#[tokio::test]
async fn rows_that_are_empty_at_the_start_are_not_rebuilt() {
    let _one = ONE_AT_A_TIME.lock().await;
    let restaurant = Restaurant::with_guests(3).await;
    let erasure = restaurant.announce(7).await;
    let running = restaurant.start(3).await;
    running.wait_for(erasure).await;
    assert_eq!(APPLIED.load(Ordering::SeqCst), 3);
    running.end().await;
}

#[tokio::test]
async fn erasures_in_quick_succession_share_rebuilds_and_none_is_missed() {
    let _one = ONE_AT_A_TIME.lock().await;
    let restaurant = Restaurant::with_guests(500).await;
    let running = restaurant.start(499).await;
    let mut last = Hash::ZERO;
    for person in 0..40 {
        last = restaurant.announce(person).await;
        tokio::task::yield_now().await;
    }
    running.wait_for(last).await;
    assert!(APPLIED.load(Ordering::SeqCst) < 500 * 40);
    running.end().await;
}
