//! Several instances on one database.

use std::{collections::HashSet, time::Duration};

use es_event::{RecordedEvent, Subject};
use es_store::{
    AppendError, EventLog as _, EventSchema, EventStream, ObserveOptions, Precondition,
    ReadOptions, StoreCatalog as _,
};
use es_store_postgres::{PostgresStore, PostgresStoreOptions};
use futures_util::{StreamExt as _, TryStreamExt as _, future::join_all};
use tokio::time::timeout;

use crate::{
    connection_proxy::ConnectionProxy,
    store_fixture::{StoreFixture, assert_chain, candidate, open, read_all},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instances_that_start_at_once_share_one_log() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let url = fixture.url(&fixture.schema(), "");
    let stores = join_all((0..8).map(|_| open(&url))).await;
    let writers = stores.iter().enumerate().map(|(number, store)| async move {
        for event in 0..20 {
            let subject = format!("/writers/{number}");
            let written = store.append(vec![candidate(&subject, event)], vec![]).await;
            written.unwrap();
        }
    });
    join_all(writers).await;
    for store in &stores {
        let events = read_all(store).await;
        assert_eq!(events.len(), 160);
        assert_chain(&events);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_instances_one_gets_a_pristine_subject() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let url = fixture.url(&fixture.schema(), "");
    let stores = [open(&url).await, open(&url).await];
    for round in 0..50 {
        let subject = format!("/books/{round}");
        let attempts = stores.iter().map(|store| {
            let pristine = Precondition::SubjectIsPristine(subject.parse().unwrap());
            store.append(vec![candidate(&subject, round)], vec![pristine])
        });
        let outcomes = join_all(attempts).await;
        let is_conflict =
            |outcome: &&Result<_, _>| matches!(outcome, Err(AppendError::Conflict(_)));
        let written = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        let refused = outcomes.iter().filter(is_conflict).count();
        assert_eq!((written, refused), (1, 1), "{outcomes:?}");
        // The instance that lost sees at once why.
        for store in &stores {
            let read = store.read(subject.parse().unwrap(), ReadOptions::default());
            assert_eq!(read.count().await, 1);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn appends_that_arrive_while_another_instance_writes_share_one_transaction() {
    const WAITS_FOR_LOCK: &str = "SELECT count(*) FROM pg_stat_activity \
         WHERE application_name = 'event-store' AND wait_event_type = 'Lock'";
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let schema = fixture.schema();
    let store = fixture.open(&schema, "").await;
    let append = async |number| {
        let events = vec![candidate("/a", number)];
        store.append(events, vec![]).await.unwrap();
    };
    let lock = format!("SELECT last FROM {schema}.es_head FOR UPDATE; SELECT pg_sleep(3)");
    let others = async {
        while fixture.server.query(WAITS_FOR_LOCK).trim() != "1" {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        join_all((1..20).map(append)).await;
    };
    std::thread::scope(|scope| {
        let holder = scope.spawn(|| fixture.server.query(&lock));
        tokio::task::block_in_place(|| {
            let appends = async {
                tokio::time::sleep(Duration::from_millis(500)).await;
                tokio::join!(append(0), others)
            };
            tokio::runtime::Handle::current().block_on(appends);
        });
        holder.join().unwrap();
    });
    let transactions = format!("SELECT count(DISTINCT xmin::text) FROM {schema}.es_events");
    assert_eq!(fixture.server.query(&transactions).trim(), "1");
    let events = read_all(&store).await;
    assert_eq!(events.len(), 20);
    assert_chain(&events);
}

/// Opens a store that does not look at the log by itself while a test runs.
async fn open_without_polls(url: &str) -> PostgresStore {
    let mut options = PostgresStoreOptions::default();
    options.poll_time = Some(Duration::from_secs(3_600));
    let opened = PostgresStore::open_with_options(url.parse().unwrap(), options).await;
    opened.unwrap()
}

async fn await_event(events: &mut EventStream, id: u64) {
    let event = timeout(Duration::from_secs(60), events.next()).await;
    let event = event.expect("the event wakes the subscriber");
    assert_eq!(event.unwrap().unwrap().id.get(), id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn subscribers_receive_the_events_of_other_instances_without_notifications() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let url = fixture.url(&fixture.schema(), "&notifications=off");
    let (writer, reader) = (open(&url).await, open(&url).await);
    let mut events = reader.observe(Subject::root(), ObserveOptions::recursive_after(None));
    for id in 0..3 {
        let written = writer.append(vec![candidate("/a", 0)], vec![]).await;
        written.unwrap();
        await_event(&mut events, id).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_event_after_a_start_or_a_lost_connection_wakes_subscribers_without_a_poll() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let url = fixture.url(&fixture.schema(), "");
    let proxy = ConnectionProxy::start(fixture.server.host()).await;
    let address = format!("127.0.0.1:{}", proxy.port);
    let through_proxy = url.replace(&fixture.server.host(), &address);
    let writer = open(&url).await;
    let reader = open_without_polls(&through_proxy).await;
    let mut events = reader.observe(Subject::root(), ObserveOptions::recursive_after(None));
    for id in 0..6 {
        let written = writer.append(vec![candidate("/a", 0)], vec![]).await;
        written.unwrap();
        await_event(&mut events, id).await;
        if id % 2 == 1 {
            proxy.cut();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_binds_the_other_instances_at_once() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let url = fixture.url(&fixture.schema(), "");
    let (first, second) = (open(&url).await, open(&url).await);
    let schema = r#"{"type":"object","properties":{"number":{"type":"string"}}}"#;
    let event_type = candidate("/a", 1).event_type;
    let registered = first
        .register_event_schema(event_type.clone(), EventSchema::parse(schema).unwrap())
        .await;
    registered.unwrap();
    let refused = second.append(vec![candidate("/a", 1)], vec![]).await;
    assert!(
        matches!(refused, Err(AppendError::Schema(_))),
        "{refused:?}"
    );
    let known = second.read_event_type(event_type).await.unwrap().unwrap();
    assert!(known.is_phantom && known.schema.is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_listing_of_many_subjects_is_complete_and_sorted() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let store = fixture.open(&fixture.schema(), "").await;
    let mut expected = HashSet::from(["/".to_owned(), "/a".to_owned(), "/a-b".to_owned()]);
    let mut candidates = vec![candidate("/a-b", 0)];
    for number in 0..2_500 {
        let subject = format!("/a/{}/{number}", number % 7);
        expected.insert(subject.clone());
        expected.insert(format!("/a/{}", number % 7));
        candidates.push(candidate(&subject, number));
    }
    store.append(candidates, vec![]).await.unwrap();
    let listed: Vec<_> = store
        .read_subjects(Subject::root())
        .try_collect()
        .await
        .unwrap();
    assert!(listed.is_sorted());
    let listed: Vec<_> = listed.iter().map(ToString::to_string).collect();
    assert_eq!(listed.len(), expected.len());
    assert_eq!(listed.into_iter().collect::<HashSet<_>>(), expected);
    let read = store.read("/a".parse().unwrap(), ReadOptions::recursive());
    let events: Vec<RecordedEvent> = read.try_collect().await.unwrap();
    assert_eq!(events.len(), 2_500);
}
