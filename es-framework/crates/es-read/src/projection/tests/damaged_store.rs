//! A store with events that cannot be read, and one that refuses subscriptions.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::{StreamExt as _, future::ready, stream};
use serde_json::json;

use super::{PATIENCE, TREES, rows, write};
use crate::projection::{Database, DatabaseUrl, Processor, QueryCost, ReadModels};
use es_event::{EventId, EventSelection, Subject};
use es_store::{
    EventLog, EventStream, ForwardingLog, ObserveOptions, ReadOptions, StoreError,
    memory::MemoryStore,
};
use es_subscribe::{
    SubscriberProgress, SubscriberState, TroubleCause,
    operator::{ComponentKind, OperatorClient, OperatorCommand, OperatorError, OperatorOutcome},
};

/// A store whose streams fail at damaged events, and whose subscriptions can be refused.
#[derive(Debug, Default)]
struct DamagedStore {
    inner: MemoryStore,
    damaged: Mutex<BTreeSet<u64>>,
    refuses_subscriptions: AtomicBool,
}

impl DamagedStore {
    fn damage(&self, id: u64) {
        self.damaged.lock().unwrap().insert(id);
    }

    fn with_damage(&self, events: EventStream) -> EventStream {
        let damaged = self.damaged.lock().unwrap().clone();
        let checked = events.map(move |event| {
            let event = event?;
            if damaged.contains(&event.id.get()) {
                let (address, reason) = ("memory".into(), "its hash differs".into());
                return Err(StoreError::Corrupt { address, reason });
            }
            Ok(event)
        });
        // A stream ends after its first error.
        let ends = checked.scan(false, |has_failed, event| {
            let next = (!*has_failed).then_some(event);
            *has_failed |= next.as_ref().is_some_and(Result::is_err);
            ready(next)
        });
        ends.boxed()
    }
}

impl ForwardingLog for DamagedStore {
    fn inner(&self) -> MemoryStore {
        self.inner.clone()
    }

    fn read_events(&self, subject: Subject, options: ReadOptions) -> EventStream {
        self.with_damage(self.inner.read(subject, options))
    }

    fn observe_events(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        if self.refuses_subscriptions.load(Ordering::Relaxed) {
            let (address, reason) = ("memory".into(), "too many observers".into());
            return stream::iter([Err(StoreError::Unavailable { address, reason })]).boxed();
        }
        self.with_damage(self.inner.observe(subject, options))
    }
}

struct Garden {
    store: Arc<DamagedStore>,
    database: Database,
    progress: SubscriberProgress,
    operator: OperatorClient,
}

impl Garden {
    async fn follow(store: &Arc<DamagedStore>) -> Self {
        let models = ReadModels::new([TREES]).unwrap();
        let database = Database::in_memory(&models).await.unwrap();
        let port: Arc<dyn EventLog> = Arc::<DamagedStore>::clone(store);
        let processor = Processor::new(port, database.clone(), models);
        let progress = processor.progress().find_progress("trees").unwrap().clone();
        let operator = processor.operator_client();
        tokio::spawn(processor.run());
        Self {
            store: Arc::clone(store),
            database,
            progress,
            operator,
        }
    }

    async fn until(&self, holds: impl Fn(&SubscriberState) -> bool) -> SubscriberState {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let state = self.progress.state();
            if holds(&state) {
                return state;
            }
            assert!(tokio::time::Instant::now() < deadline, "{state:?}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    async fn reach(&self, id: u64) {
        let reached = self.progress.wait_until_reached(EventId::new(id), PATIENCE);
        reached.await.unwrap();
    }

    async fn select(
        &self,
        command: OperatorCommand,
        selection: EventSelection,
    ) -> Result<OperatorOutcome, OperatorError> {
        let sent = self
            .operator
            .send_selection("trees", command, Some(selection));
        sent.await
    }

    async fn plant(&self, number: usize) {
        plant(&self.store, number).await;
    }
}

async fn plant(store: &DamagedStore, number: usize) {
    let payload = json!({ "kind": "oak", "numLeaves": number });
    write(&store.inner, number, &payload).await;
}

#[tokio::test]
async fn a_damaged_event_stops_a_read_model_by_its_id_and_can_be_skipped() {
    let store = Arc::new(DamagedStore::default());
    for number in 0..4 {
        plant(&store, number).await;
    }
    store.damage(1);
    let garden = Garden::follow(&store).await;
    let state = garden.until(SubscriberState::is_stopped).await;
    let poison = state.poison_event().unwrap();
    assert_eq!((poison.id.get(), &poison.subject), (1, &None));
    assert!(poison.reason.contains("its hash differs"), "{poison}");
    let exits = state.exits(ComponentKind::ReadModel);
    assert!(exits.contains(&OperatorCommand::Skip), "{exits:?}");
    let skipped = garden.operator.send_command("trees", OperatorCommand::Skip);
    assert_eq!(skipped.await.unwrap().event.unwrap().id.get(), 1);
    garden.reach(3).await;
    assert_eq!(rows(&garden.database).await.len(), 3);
    // A database in memory is empty after a restart, and the event store still has the choice.
    let again = Garden::follow(&store).await;
    again.reach(3).await;
    assert_eq!(rows(&again.database).await.len(), 3);
}

#[tokio::test]
async fn a_newest_event_that_is_damaged_is_skipped_too() {
    let store = Arc::new(DamagedStore::default());
    for number in 0..3 {
        plant(&store, number).await;
    }
    store.damage(2);
    let garden = Garden::follow(&store).await;
    let state = garden.until(SubscriberState::is_stopped).await;
    assert_eq!(state.poison_event().unwrap().id.get(), 2);
    garden
        .operator
        .send_command("trees", OperatorCommand::Skip)
        .await
        .unwrap();
    garden.reach(2).await;
    garden.plant(3).await;
    garden.reach(4).await; // Event 3 is the choice of the operator.
    assert_eq!(rows(&garden.database).await.len(), 3);
}

#[tokio::test]
async fn an_answer_that_is_garbage_names_no_event() {
    let store = Arc::new(DamagedStore::default());
    plant(&store, 0).await;
    // Each read fails, so no event is at fault.
    store.damage(0);
    plant(&store, 1).await;
    let error = StoreError::Corrupt {
        address: "memory".into(),
        reason: "no JSON".into(),
    };
    let unreadable = es_store::find_unreadable_event(&*store, EventId::new(0), &error).await;
    assert_eq!(unreadable, None, "event 1 can be read");
    let beyond = es_store::find_unreadable_event(&*store, EventId::new(1), &error).await;
    assert_eq!(beyond, None, "there is no event 2");
}

#[tokio::test]
async fn a_refused_subscription_is_retried_and_told() {
    let store = Arc::new(DamagedStore::default());
    plant(&store, 0).await;
    store.refuses_subscriptions.store(true, Ordering::Relaxed);
    let garden = Garden::follow(&store).await;
    let state = garden
        .until(|state| matches!(state, SubscriberState::Retrying(_)))
        .await;
    let trouble = state.trouble().unwrap();
    assert_eq!(trouble.cause, TroubleCause::EventStore);
    assert!(trouble.reason.contains("too many observers"), "{trouble:?}");
    // The state stays while the attempts fail.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let later = garden.progress.state();
    assert_eq!(later.trouble().unwrap().since, trouble.since);
    garden
        .operator
        .send_command("trees", OperatorCommand::Retry)
        .await
        .unwrap();
    store.refuses_subscriptions.store(false, Ordering::Relaxed);
    garden.reach(0).await;
    garden
        .until(|state| *state == SubscriberState::Working)
        .await;
}

/// Plants 600 trees, each second of which has leaves that are no number, and one without a kind.
#[tokio::test]
async fn a_table_that_is_lost_while_the_event_store_is_away_answers_no_query() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trees.db");
    let store = Arc::new(DamagedStore::default());
    let models = ReadModels::new([TREES]).unwrap();
    let url = DatabaseUrl::File(file.clone());
    let database = Database::open(&url, &models).await.unwrap();
    let port: Arc<dyn EventLog> = Arc::<DamagedStore>::clone(&store);
    let processor = Processor::new(port, database.clone(), models);
    let progress = processor.progress().find_progress("trees").unwrap().clone();
    tokio::spawn(processor.run());
    plant(&store, 0).await;
    let reach = async || progress.wait_until_reached(EventId::new(0), PATIENCE).await;
    reach().await.unwrap();

    store.refuses_subscriptions.store(true, Ordering::Relaxed);
    let outside = rusqlite::Connection::open(&file).unwrap();
    outside.busy_timeout(PATIENCE).unwrap();
    outside
        .execute_batch("DROP TABLE trees; DROP TABLE es_checkpoint")
        .unwrap();
    let count = async || {
        let count = "SELECT count(*) FROM trees".to_owned();
        database
            .fetch_count(QueryCost::Page, count, Vec::new())
            .await
    };
    assert!(count().await.is_err());
    while count().await.is_err() {
        tokio::task::yield_now().await;
    }
    assert_eq!(count().await.unwrap(), 0);
    let answers = progress.wait_until_reached(None, Duration::from_millis(500));
    assert!(answers.await.is_err());

    store.refuses_subscriptions.store(false, Ordering::Relaxed);
    reach().await.unwrap();
    assert_eq!(count().await.unwrap(), 1);
}

async fn plant_bad_trees(store: &DamagedStore) {
    for number in 0..600 {
        let leaves = match number % 2 {
            0 => json!(number),
            _ => json!(format!("{number} leaves")),
        };
        let tree = json!({ "kind": "oak", "numLeaves": leaves });
        write(&store.inner, number, &tree).await;
    }
    write(&store.inner, 600, &json!({ "numLeaves": 1 })).await;
}

#[tokio::test]
async fn events_that_fail_alike_are_skipped_at_once_and_after_a_restart() {
    let store = Arc::new(DamagedStore::default());
    plant_bad_trees(&store).await;
    let garden = Garden::follow(&store).await;
    garden.reach(600).await;
    let groups = garden.progress.held_keys().group_by_failure();
    let sizes: Vec<_> = groups.iter().map(|group| group.keys).collect();
    assert_eq!(sizes, [300, 1]);
    let alike = EventSelection::Fingerprint {
        fingerprint: groups[0].fingerprint.clone(),
    };
    let skipped = garden.select(OperatorCommand::Skip, alike.clone()).await;
    let outcome = |retried, released| OperatorOutcome {
        replay: None,
        event: None,
        retried,
        released,
    };
    assert_eq!(skipped, Ok(outcome(300, 300)));
    // The last event fails in another way.
    let range = EventSelection::Range {
        from: EventId::new(600).unwrap(),
        to: EventId::new(601).unwrap(),
    };
    let skipped = garden.select(OperatorCommand::Skip, range).await;
    assert_eq!(skipped, Ok(outcome(1, 1)));
    garden.reach(602).await;
    assert_eq!(rows(&garden.database).await.len(), 300);

    let again = Garden::follow(&store).await;
    again.reach(602).await;
    assert_eq!(rows(&again.database).await.len(), 300);
    assert!(again.progress.held_keys().is_empty());
    // The rebuild that follows holds the rows whose events are no longer skipped.
    let retried = again.select(OperatorCommand::Retry, alike).await;
    assert_eq!(retried, Ok(outcome(0, 0)));
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while again.progress.held_keys().len() != 300 {
        assert!(tokio::time::Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let reached = again.progress.wait_until_reached(None, PATIENCE).await;
    assert_eq!(reached, Ok(()));
}
