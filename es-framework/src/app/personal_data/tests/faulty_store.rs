//! Erasures when the event store fails, was restored from a backup, or has lost events.

use std::{
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use es_personal::{ErasureTarget, PersonalData, PersonalEvents, PersonalStore};
use futures_util::FutureExt as _;
use uuid::Uuid;

use crate::{
    event::{EventCandidate, EventDescriptor, RecordedEvent},
    store::{
        AppendError, EventLog as _, ForwardingLog, Precondition, StoreCatalog, StoreError,
        memory::MemoryStore,
    },
};

use super::{CountingTarget, Party, PartyHeldEvent};

/// A store that can be full, and that can go on with the events of another one, as after a restore.
#[derive(Debug, Clone, Default)]
struct FaultyStore {
    events: Arc<RwLock<MemoryStore>>,
    is_full: Arc<AtomicBool>,
}

impl FaultyStore {
    /// Returns an instance with these rows and the keys of a party.
    fn instance_with(&self, rows: &CountingTarget, party: &Party) -> PersonalData {
        let targets: Vec<Box<dyn ErasureTarget>> = vec![Box::new(rows.clone())];
        let events = PersonalEvents::select(&[EventDescriptor::of::<PartyHeldEvent>()]);
        let opened =
            PersonalStore::new(Arc::new(self.clone()), events, party.opened.keys().clone());
        PersonalData::new(opened, "test".into(), targets)
    }
}

#[async_trait]
impl ForwardingLog for FaultyStore {
    fn inner(&self) -> MemoryStore {
        let events = self.events.read().unwrap_or_else(PoisonError::into_inner);
        events.clone()
    }

    async fn append_events(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        if self.is_full.load(Ordering::SeqCst) {
            return Err(StoreError::Full("no space".to_owned()).into());
        }
        self.inner().append(candidates, preconditions).await
    }
}

#[async_trait]
impl StoreCatalog for FaultyStore {
    async fn health(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn description(&self) -> String {
        "faulty".into()
    }
}

async fn erase(data: &PersonalData, person: u128) {
    let report = data.erase(Uuid::from_u128(person)).await.unwrap();
    assert!(report.unreached.is_empty(), "{report:?}");
}

#[tokio::test]
async fn an_erasure_in_a_restored_event_store_reaches_rows_that_know_a_later_one() {
    let (before, restored) = (Party::new().await, Party::new().await);
    let rows = CountingTarget::default();
    let data = before.instance_with(&rows);
    for person in [1, 2] {
        erase(&data, person).await;
    }
    assert_eq!(rows.drops(), 2);
    erase(&restored.instance_with(&rows), 3).await;
    assert_eq!(rows.drops(), 3);
}

#[tokio::test]
async fn an_instance_that_runs_while_the_event_store_loses_events_follows_the_erasures_after_that()
{
    let (party, rows, store) = (
        Party::new().await,
        CountingTarget::default(),
        FaultyStore::default(),
    );
    let data = store.instance_with(&rows, &party);
    for person in [1, 2] {
        erase(&data, person).await;
    }
    *store.events.write().unwrap() = MemoryStore::new();
    erase(&data, 3).await;
    assert_eq!(rows.drops(), 3);
}

/// Waits until the key store knows no erasure that is not finished, and the rows have dropped their values.
async fn all_are_finished(party: &Party, rows: &CountingTarget) -> bool {
    for _ in 0..1_000 {
        let keys = party.opened.keys().store();
        let unfinished = keys.unfinished_erasures().await.unwrap();
        if unfinished.is_empty() && rows.drops() == 1 {
            return true;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    false
}

#[tokio::test(start_paused = true)]
async fn an_erasure_that_cannot_be_announced_is_completed_once_there_is_room_again() {
    let (party, rows, store) = (
        Party::new().await,
        CountingTarget::default(),
        FaultyStore::default(),
    );
    let data = store.instance_with(&rows, &party);
    let erased = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        store.is_full.store(true, Ordering::SeqCst);
        let report = data.erase(Uuid::from_u128(1)).await.unwrap();
        assert!(report.unreached[0].contains("full"), "{report:?}");
        tokio::time::sleep(Duration::from_secs(20)).await;
        assert_eq!(rows.drops(), 0);
        store.is_full.store(false, Ordering::SeqCst);
        all_are_finished(&party, &rows).await
    };
    let is_finished = tokio::select! {
        ended = data.follow() => panic!("{ended:?}"),
        is_finished = erased => is_finished,
    };
    assert!(is_finished);
    assert_eq!(rows.drops(), 1);
}

#[tokio::test]
async fn an_erasure_goes_on_when_its_caller_goes_away() {
    let (party, rows, store) = (
        Party::new().await,
        CountingTarget::default(),
        FaultyStore::default(),
    );
    let data = store.instance_with(&rows, &party);
    let person = Uuid::from_u128(1);
    assert!(data.erase_in_background(person).now_or_never().is_none());
    for _ in 0..1_000 {
        if rows.drops() == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("nothing is dropped");
}
