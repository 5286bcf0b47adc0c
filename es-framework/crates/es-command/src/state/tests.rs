//! Tests of states over a memory store that counts the events read from it.

mod erasures;

use std::{
    os::unix::fs::PermissionsExt as _,
    sync::{
        Arc, RwLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures_util::StreamExt as _;
use proptest::prelude::*;
use serde_json::{json, value::to_raw_value};

use super::{Evolve as _, RebuiltState, Snapshots, State as _, StateLoader};
use crate::prelude::*;
use es_event::{Event as _, EventCandidate, EventId, EventType, Subject};
use es_store::{EventLog as _, EventStream, ForwardingLog, ReadOptions, memory::MemoryStore};

#[derive(Event)]
#[event(package = "com.example.bank")]
struct AccountOpenedEvent {}

#[derive(Event)]
#[event(package = "com.example.bank")]
struct MoneyPaidInEvent {
    cents: u64,
}

#[derive(Event)]
#[event(package = "com.example.bank")]
struct AccountClosedEvent {}

#[derive(Debug, Clone, PartialEq, State)]
struct Account {
    cents: u64,
    payments: u64,
}

#[evolve]
impl Account {
    fn opened(_: AccountOpenedEvent) -> Self {
        let (cents, payments) = (0, 0);
        Self { cents, payments }
    }

    fn paid_in(&mut self, event: &MoneyPaidInEvent) {
        self.cents = self.cents.saturating_add(event.cents);
        self.payments += 1;
    }

    fn closed(self, _: &AccountClosedEvent) -> Option<Self> {
        None
    }
}

/// A store that counts the events read from it.
#[derive(Debug, Clone, Default)]
struct CountingStore {
    inner: Arc<RwLock<MemoryStore>>,
    read: Arc<AtomicUsize>,
}

impl CountingStore {
    async fn pay(&self, subject: &str, cents: u64) {
        let paid_in = (MoneyPaidInEvent::TYPE, json!({"cents": cents}));
        self.write(subject, &[paid_in]).await;
    }

    async fn open(&self, subject: &str) {
        let opened = (AccountOpenedEvent::TYPE, json!({}));
        self.write(subject, &[opened]).await;
    }

    async fn write(&self, subject: &str, events: &[(&'static str, serde_json::Value)]) {
        let candidate = |(event_type, payload): &(&'static str, serde_json::Value)| {
            let data = json!({"metadata": {}, "payload": payload});
            EventCandidate {
                source: "bank".into(),
                subject: subject.parse().unwrap(),
                event_type: EventType::declared(event_type),
                data: to_raw_value(&data).unwrap(),
                trace: None,
            }
        };
        let candidates = events.iter().map(candidate).collect();
        self.inner().append(candidates, vec![]).await.unwrap();
    }

    /// Goes on with the events of another store, as after a failover that lost events.
    fn fail_over_to(&self, other: &Self) {
        *self.inner.write().unwrap() = other.inner();
    }

    /// Returns the number of events read since the last call.
    fn count(&self) -> usize {
        self.read.swap(0, Ordering::SeqCst)
    }
}

impl ForwardingLog for CountingStore {
    fn inner(&self) -> MemoryStore {
        self.inner.read().unwrap().clone()
    }

    fn read_events(&self, subject: Subject, options: ReadOptions) -> EventStream {
        let read = Arc::clone(&self.read);
        let count = move |_: &_| {
            read.fetch_add(1, Ordering::SeqCst);
        };
        self.inner().read(subject, options).inspect(count).boxed()
    }
}

fn states(store: &CountingStore) -> StateLoader {
    StateLoader::new(Arc::new(store.clone()))
}

fn subject(text: &str) -> Subject {
    text.parse().unwrap()
}

async fn rebuilt(states: &StateLoader, text: &str) -> RebuiltState<Account> {
    states.rebuild(&subject(text), false).await.unwrap()
}

fn account(cents: u64, payments: u64) -> Option<Account> {
    Some(Account { cents, payments })
}

#[tokio::test]
async fn a_state_follows_from_the_events_of_its_subject_alone() {
    let store = CountingStore::default();
    let states = states(&store);
    store.open("/accounts/1").await;
    store.pay("/accounts/1", 5).await;
    store.pay("/accounts/1/notes", 7).await;
    store.pay("/accounts/2", 7).await;
    assert_eq!(rebuilt(&states, "/accounts/1").await.state, account(5, 1));
    let not_opened = rebuilt(&states, "/accounts/2").await;
    assert_eq!(not_opened.state, None);
    assert_eq!(not_opened.latest.map(|latest| latest.id.get()), Some(3));
    assert_eq!(rebuilt(&states, "/accounts/3").await.latest, None);
    let with_notes = states.rebuild(&subject("/accounts/1"), true).await;
    assert_eq!(with_notes.unwrap().state, account(12, 2));
    store
        .write("/accounts/1", &[(AccountClosedEvent::TYPE, json!({}))])
        .await;
    assert_eq!(rebuilt(&states, "/accounts/1").await.state, None);
}

#[tokio::test]
async fn a_cached_state_is_read_from_its_last_event_on() {
    let store = CountingStore::default();
    let states = states(&store);
    store.open("/accounts/1").await;
    store.pay("/accounts/1", 5).await;
    let first = rebuilt(&states, "/accounts/1").await;
    assert_eq!(store.count(), 2);
    states.store_in_cache(&subject("/accounts/1"), false, first);
    store.pay("/accounts/1", 6).await;
    let second = rebuilt(&states, "/accounts/1").await;
    assert_eq!((second.state, store.count()), (account(11, 2), 2));
    // The state was taken out of the cache and not put back.
    assert_eq!(rebuilt(&states, "/accounts/1").await.state, account(11, 2));
    assert_eq!(store.count(), 3);
}

/// Caches an account of 11 cents, and then continues with a store that has other events.
async fn state_after_a_failover(other: &CountingStore) -> Option<Account> {
    let store = CountingStore::default();
    let states = states(&store);
    store.open("/accounts/1").await;
    store.pay("/accounts/1", 11).await;
    let cached = rebuilt(&states, "/accounts/1").await;
    assert_eq!(cached.state, account(11, 1));
    states.store_in_cache(&subject("/accounts/1"), false, cached);
    store.fail_over_to(other);
    rebuilt(&states, "/accounts/1").await.state
}

#[tokio::test]
async fn a_cached_state_is_rebuilt_once_the_store_has_lost_its_last_event() {
    let other = CountingStore::default();
    assert_eq!(state_after_a_failover(&other).await, None);
    other.open("/accounts/1").await;
    assert_eq!(state_after_a_failover(&other).await, account(0, 0));
    // The next event has the id of the lost one.
    other.pay("/accounts/1", 3).await;
    assert_eq!(state_after_a_failover(&other).await, account(3, 1));
    other.pay("/accounts/1", 4).await;
    assert_eq!(state_after_a_failover(&other).await, account(7, 2));
}

#[tokio::test]
async fn an_event_that_does_not_fit_is_named() {
    let store = CountingStore::default();
    store.open("/accounts/1").await;
    let broken = (MoneyPaidInEvent::TYPE, json!({"cents": "five"}));
    store.write("/accounts/1", &[broken]).await;
    let states = states(&store);
    let account = subject("/accounts/1");
    let rebuilt = states.rebuild::<Account>(&account, false).await;
    let error = rebuilt.unwrap_err().to_string();
    assert!(
        error.contains("event 1 of type com.example.bank.MoneyPaidInEvent"),
        "{error}"
    );
}

/// An account with many payments, and its snapshot.
async fn long_account(file: &std::path::Path, payments: usize) -> CountingStore {
    let store = CountingStore::default();
    store.open("/accounts/1").await;
    let payment = (MoneyPaidInEvent::TYPE, json!({"cents": 1}));
    store.write("/accounts/1", &vec![payment; payments]).await;
    let states = states(&store).with_snapshots(Snapshots::in_file(file.to_owned()));
    let rebuilt = rebuilt(&states, "/accounts/1").await;
    states.store_in_cache(&subject("/accounts/1"), false, rebuilt);
    // Another thread writes the snapshot.
    for _ in 0..500 {
        if saved(file) > 0 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    store.count();
    store
}

fn saved(file: &std::path::Path) -> i64 {
    let Ok(connection) = rusqlite::Connection::open(file) else {
        return 0;
    };
    let count = connection.query_row("SELECT count(*) FROM snapshots", [], |row| row.get(0));
    count.unwrap_or_default()
}

async fn restarted(store: &CountingStore, file: &std::path::Path) -> RebuiltState<Account> {
    let states = states(store).with_snapshots(Snapshots::in_file(file.to_owned()));
    rebuilt(&states, "/accounts/1").await
}

#[tokio::test]
async fn a_long_subject_is_read_from_its_snapshot_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("below/snapshots.sqlite");
    let store = long_account(&file, 600).await;
    store.pay("/accounts/1", 9).await;
    assert_eq!(restarted(&store, &file).await.state, account(609, 601));
    assert_eq!(store.count(), 2, "the event it ends with, and the new one");
    let snapshots = Snapshots::in_file(file.clone());
    let (module, name) = (Account::DECLARATION.module, Account::NAME);
    let last = async |name, at| {
        snapshots
            .load_last_event_id(module, name, &subject(at), false)
            .await
    };
    assert_eq!(last(name, "/accounts/1").await, EventId::new(600));
    assert_eq!(last(name, "/accounts/2").await, None);
    assert_eq!(last("Other", "/accounts/1").await, None);
    for file in std::fs::read_dir(file.parent().unwrap()).unwrap() {
        let mode = file.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "only the owner can read it");
    }
}

#[tokio::test]
async fn a_short_subject_has_no_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snapshots.sqlite");
    let store = CountingStore::default();
    store.open("/accounts/1").await;
    let states = states(&store).with_snapshots(Snapshots::in_file(file.clone()));
    let rebuilt = rebuilt(&states, "/accounts/1").await;
    states.store_in_cache(&subject("/accounts/1"), false, rebuilt);
    assert!(!file.exists());
}

#[tokio::test]
async fn a_snapshot_of_another_store_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snapshots.sqlite");
    long_account(&file, 600).await;
    let other = CountingStore::default();
    other.open("/accounts/1").await;
    for _ in 0..700 {
        other.pay("/accounts/1", 2).await;
    }
    assert_eq!(restarted(&other, &file).await.state, account(1_400, 700));
    let empty = CountingStore::default();
    assert_eq!(restarted(&empty, &file).await.state, None);
}

#[tokio::test]
async fn a_snapshot_of_another_build_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snapshots.sqlite");
    let store = long_account(&file, 600).await;
    let connection = rusqlite::Connection::open(&file).unwrap();
    let wrong = r#"UPDATE snapshots SET program = x'00', state = '{"cents":0,"payments":0}'"#;
    connection.execute(wrong, []).unwrap();
    drop(connection);
    assert_eq!(restarted(&store, &file).await.state, account(600, 600));
}

#[tokio::test]
async fn a_broken_file_of_snapshots_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snapshots.sqlite");
    let store = long_account(&file, 600).await;
    let _ = std::fs::remove_file(file.with_extension("sqlite-wal"));
    std::fs::write(&file, "this is no database").unwrap();
    assert_eq!(restarted(&store, &file).await.state, account(600, 600));
}

#[test]
fn a_state_knows_the_types_of_its_events() {
    let types = [
        AccountOpenedEvent::TYPE,
        MoneyPaidInEvent::TYPE,
        AccountClosedEvent::TYPE,
    ];
    assert_eq!(Account::EVENTS, types);
    assert_eq!(Account::NAME, "Account");
}

/// An event of an account.
#[derive(Debug, Clone)]
enum Step {
    Open,
    Pay(u64),
    Close,
    Forget,
    Rebuild,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        1 => Just(Step::Open),
        4 => (0_u64..100).prop_map(Step::Pay),
        1 => Just(Step::Close),
        1 => Just(Step::Forget),
        4 => Just(Step::Rebuild),
    ];
    proptest::collection::vec(step, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_cache_changes_nothing(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let store = CountingStore::default();
            let mut states = states(&store);
            let mut expected: Option<Account> = None;
            for step in steps {
                match step {
                    Step::Open => {
                        store.open("/accounts/1").await;
                        expected = account(0, 0);
                    }
                    Step::Pay(cents) => {
                        store.pay("/accounts/1", cents).await;
                        if let Some(account) = &mut expected {
                            account.cents += cents;
                            account.payments += 1;
                        }
                    }
                    Step::Close => {
                        store.write("/accounts/1", &[(AccountClosedEvent::TYPE, json!({}))]).await;
                        expected = None;
                    }
                    Step::Forget => states = self::states(&store),
                    Step::Rebuild => {
                        let found = rebuilt(&states, "/accounts/1").await;
                        prop_assert_eq!(&found.state, &expected);
                        states.store_in_cache(&subject("/accounts/1"), false, found);
                    }
                }
            }
            Ok(())
        })?;
    }
}
