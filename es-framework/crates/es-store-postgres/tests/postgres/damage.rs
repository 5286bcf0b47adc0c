//! Tables that somebody changes beside the event store.

use std::time::Duration;

use async_trait::async_trait;
use es_event::{EventId, Subject};
use es_store::{
    AppendError, DamagePlace, DamageSettlement, EventLog as _, ObserveOptions, Precondition,
    ReadOptions, StoreCatalog as _, StoreError,
    contract::{self, Damage, DamageableStorage},
    verify,
};
use es_store_postgres::{PostgresOpenError, PostgresStore};
use futures_util::{StreamExt as _, TryStreamExt as _};

use crate::store_fixture::{StoreFixture, assert_chain, candidate, open, read_all};

/// One store, whose tables are damaged by SQL.
struct DamagedTables<'a> {
    fixture: &'a StoreFixture,
    schema: String,
}

#[async_trait(?Send)]
impl DamageableStorage for DamagedTables<'_> {
    type Store = PostgresStore;
    type Error = PostgresOpenError;

    const IS_SHARED: bool = true;

    async fn open(&self) -> Result<PostgresStore, PostgresOpenError> {
        let url = self.fixture.url(&self.schema, "");
        PostgresStore::open(url.parse().unwrap()).await
    }

    async fn damage(&self, damage: Damage) -> bool {
        let on_events = damage.sql_on_events("es_events");
        let statements = on_events.unwrap_or_else(|| statements_on_tables(damage).to_owned());
        let path = format!("SET search_path = {}; {statements}", self.schema);
        self.fixture.server.query(&path);
        true
    }

    async fn rebuild(&self, store: &PostgresStore) {
        store.rebuild_tables().await.unwrap();
    }
}

/// Returns the statements of a damage that is not one of the rows of events.
fn statements_on_tables(damage: Damage) -> &'static str {
    match damage {
        Damage::LostTables => {
            "TRUNCATE es_events, es_subtrees, es_subjects, es_event_types, es_head"
        }
        Damage::LostEvents => "TRUNCATE es_events",
        Damage::LostSubject => "DELETE FROM es_subjects WHERE subject = '/a/1'",
        Damage::ChangedSubjectEntry => "UPDATE es_subjects SET last = 0 WHERE subject = '/a/1'",
        Damage::LostSubtree => "DELETE FROM es_subtrees",
        Damage::ForgedSubtreeEntry => "INSERT INTO es_subtrees VALUES ('/a', 5)",
        Damage::LostType => "DELETE FROM es_event_types WHERE schema IS NULL",
        Damage::ChangedSchema => {
            "UPDATE es_event_types SET schema = '{\"type\":\"object\",\"properties\":{}}' \
             WHERE schema IS NOT NULL"
        }
        Damage::RemovedSchema => "UPDATE es_event_types SET schema = NULL",
        Damage::LostSchema => "DELETE FROM es_event_types WHERE schema IS NOT NULL",
        other => unreachable!("{other:?} is a damage of the rows of events"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_damage_of_the_tables_is_served() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let unknown = contract::run_damage(async || DamagedTables {
        fixture: &fixture,
        schema: fixture.schema(),
    })
    .await;
    assert_eq!(unknown, []);
}

/// Copies all tables, and returns the statements that bring the copies back.
fn dump(fixture: &StoreFixture, schema: &str) -> String {
    let tables = [
        "es_events",
        "es_subtrees",
        "es_subjects",
        "es_event_types",
        "es_head",
    ];
    let copy =
        |table: &str| format!("CREATE TABLE {schema}.old_{table} AS TABLE {schema}.{table};");
    fixture.server.query(&tables.map(copy).concat());
    let restore = |table: &str| {
        format!(
            "TRUNCATE {schema}.{table}; INSERT INTO {schema}.{table} TABLE {schema}.old_{table};"
        )
    };
    format!("BEGIN; {} COMMIT", tables.map(restore).concat())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_dump_under_a_running_store_closes_the_log_and_ends_subscriptions() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let schema = fixture.schema();
    let store = fixture.open(&schema, "").await;
    store
        .append(vec![candidate("/a", 0)], vec![])
        .await
        .unwrap();
    let older = dump(&fixture, &schema);
    let later = (1..8).map(|number| candidate("/a", number)).collect();
    store.append(later, vec![]).await.unwrap();
    let mut subscription = store.observe(Subject::root(), ObserveOptions::recursive_after(None));
    for _ in 0..8 {
        subscription.next().await.unwrap().unwrap();
    }
    fixture.server.query(&older);
    let told = tokio::time::timeout(Duration::from_secs(5), subscription.next());
    let told = told.await.expect("a subscription notices the loss");
    assert!(told.unwrap().is_err());
    assert!(subscription.next().await.is_none());
    assert_closed(&[&store], "event 7").await;
    let later = fixture.open(&schema, "").await;
    assert_closed(&[&later], "event 7").await;
    // The log is whole, but shorter. A verification opens it again.
    assert_eq!(verify(&later, |_| {}).await.unwrap().damage, []);
    let appended = store.append(vec![candidate("/a", 8)], vec![]).await;
    assert_eq!(appended.unwrap()[0].id.get(), 1);
    assert_eq!(read_all(&store).await.len(), 2);
}

/// Asserts that an append is refused because the log is closed, on each of some instances, and that health says so.
async fn assert_closed(stores: &[&PostgresStore], place: &str) {
    for store in stores {
        let refused = store.append(vec![candidate("/d", 1)], vec![]).await;
        let Err(AppendError::Store(StoreError::Unavailable { reason, .. })) = refused else {
            panic!("{refused:?}");
        };
        let closed = format!("the log is closed for writing, because {place} is damaged: ");
        assert!(reason.starts_with(&closed), "{reason}");
        let unwell = store.health().await.unwrap_err().to_string();
        assert!(unwell.contains(&closed), "{unwell}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_instance_that_finds_a_lost_index_row_closes_the_log_for_all_until_it_is_verified() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let schema = fixture.schema();
    let stores = [
        fixture.open(&schema, "").await,
        fixture.open(&schema, "").await,
    ];
    let append = async |at: &str, preconditions| {
        stores[0]
            .append(vec![candidate(at, 0)], preconditions)
            .await
    };
    append("/a1/b", vec![]).await.unwrap();
    append("/a2/b", vec![]).await.unwrap();
    let pristine = |at: &str| {
        let subject = at.parse().unwrap();
        [
            Precondition::SubjectIsPristine(subject),
            Precondition::SubtreeIsPristine(at.parse().unwrap()),
        ]
    };
    for (table, lose, of) in [
        (
            "es_subtrees",
            "DELETE FROM es_subtrees WHERE ancestor = '/a1'",
            "/a1",
        ),
        (
            "es_subjects",
            "DELETE FROM es_subjects WHERE subject = '/a2/b'",
            "/a2/b",
        ),
        (
            "es_subjects",
            "UPDATE es_subjects SET last = 0 WHERE subject = '/a2/b'",
            "/a2/b",
        ),
    ] {
        fixture
            .server
            .query(&format!("SET search_path = {schema}; {lose}"));
        let [own, recursive] = pristine(of);
        let is_recursive = table == "es_subtrees";
        let precondition = if is_recursive { recursive } else { own };
        let refused = append("/c", vec![precondition]).await;
        assert!(
            matches!(
                refused,
                Err(AppendError::Store(StoreError::Unavailable { .. }))
            ),
            "{refused:?}"
        );
        let place = format!("the table {table}");
        assert_closed(&[&stores[0], &stores[1]], &place).await;
        let later = fixture.open(&schema, "").await;
        assert_closed(&[&later], &place).await;
        // The damage stays until an operator asks for the tables to be built again.
        assert_ne!(verify(&later, |_| {}).await.unwrap().damage, []);
        later.rebuild_tables().await.unwrap();
        assert_closed(&[&later], &place).await;
        assert_eq!(verify(&later, |_| {}).await.unwrap().damage, []);
        for store in [&stores[0], &stores[1], &later] {
            let appended = store.append(vec![candidate("/d", 1)], vec![]).await;
            appended.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_event_closes_the_log_until_it_is_restored_or_accepted() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let schema = fixture.schema();
    let store = fixture.open(&schema, "").await;
    for number in 0..3 {
        store
            .append(vec![candidate("/a", number)], vec![])
            .await
            .unwrap();
    }
    let set = |subject: &str| {
        let update = format!("UPDATE {schema}.es_events SET subject = '{subject}' WHERE id = 2");
        fixture.server.query(&update);
    };
    // The next append to the subject finds that its latest event is gone.
    set("/b");
    let on_latest =
        Precondition::SubjectIsOnEventId("/a".parse().unwrap(), EventId::new(1).unwrap());
    let refused = store
        .append(vec![candidate("/a", 3)], vec![on_latest])
        .await;
    assert!(refused.is_err());
    assert_closed(&[&store], "event 2").await;
    set("/a");
    assert_closed(&[&store], "event 2").await;
    assert_eq!(verify(&store, |_| {}).await.unwrap().damage, []);
    store
        .append(vec![candidate("/d", 0)], vec![])
        .await
        .unwrap();
    // A start finds it as well.
    set("/b");
    let later = fixture.open(&schema, "").await;
    assert_closed(&[&store, &later], "event 2").await;
    let found = verify(&later, |_| {}).await.unwrap().damage;
    assert_eq!(found[0].place, DamagePlace::Event(2));
    let settlement = DamageSettlement {
        known: later.damaged_places().await.unwrap(),
        found,
        is_accepted: true,
    };
    later.settle_damage(settlement).await.unwrap();
    for store in [&store, &later, &fixture.open(&schema, "").await] {
        store
            .append(vec![candidate("/d", 0)], vec![])
            .await
            .unwrap();
        let read = store.read("/b".parse().unwrap(), ReadOptions::default());
        assert!(read.try_collect::<Vec<_>>().await.is_err(), "it is served");
    }
}

/// Makes the tables of a store as version 1 had them.
fn downgrade(fixture: &StoreFixture, schema: &str) {
    fixture.server.query(&format!(
        "SET search_path = {schema}; ALTER TABLE es_events DROP COLUMN checksum; \
         ALTER TABLE es_event_types DROP COLUMN schema_checksum; \
         DROP TABLE es_subjects, es_damage; UPDATE es_store_version SET version = 1 WHERE id = 1"
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_of_version_2_open_and_their_program_cannot_write_any_more() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let schema = fixture.schema();
    let version_2 = include_str!("fixtures/version-2.sql");
    fixture
        .server
        .query(&format!("SET search_path = {schema}; {version_2}"));
    let url = fixture.url(&schema, "");
    let (store, _other) = futures_util::future::join(open(&url), open(&url)).await;
    let events = read_all(&store).await;
    assert_eq!(events.len(), 9);
    assert_chain(&events);
    let verified = verify(&store, |_| {}).await.unwrap();
    assert_eq!((verified.events, verified.damage), (9, vec![]));
    let subject = store.read("/a/1".parse().unwrap(), ReadOptions::default());
    assert_eq!(subject.count().await, 3);
    for precondition in [
        Precondition::SubjectIsPristine("/a/1".parse().unwrap()),
        Precondition::SubtreeIsPristine("/a".parse().unwrap()),
    ] {
        let refused = store
            .append(vec![candidate("/c", 0)], vec![precondition])
            .await;
        assert!(
            matches!(refused, Err(AppendError::Conflict(_))),
            "{refused:?}"
        );
    }
    store
        .append(vec![candidate("/a/1", 0)], vec![])
        .await
        .unwrap();
    let outdated = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        fixture.server.query(&format!(
            "UPDATE {schema}.es_events SET previous_in_subject = NULL, previous_of_type = NULL WHERE id = 0"
        ));
    }));
    assert!(outdated.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_of_version_1_get_checksums_and_an_interrupted_upgrade_goes_on() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let schema = fixture.schema();
    let store = fixture.open(&schema, "").await;
    let candidates = (0..5_000).map(|number| candidate(&format!("/a/{}", number % 7), number));
    store.append(candidates.collect(), vec![]).await.unwrap();
    let written = read_all(&store).await;
    store.close().await;
    downgrade(&fixture, &schema);
    // An event of the third step is damaged, so the upgrade stops after two.
    let data = |text: &str| {
        format!("UPDATE {schema}.es_events SET data = replace(data, {text}) WHERE id = 4500")
    };
    fixture.server.query(&data("'4500', '4501'"));
    let url = fixture.url(&schema, "");
    let refused = PostgresStore::open(url.parse().unwrap()).await.unwrap_err();
    assert!(
        refused.to_string().contains("event 4500 was changed"),
        "{refused}"
    );
    let upgraded = format!("SELECT count(checksum) FROM {schema}.es_events");
    assert_eq!(fixture.server.query(&upgraded).trim(), "4000");
    fixture.server.query(&data("'4501', '4500'"));
    let stores = futures_util::future::join(open(&url), open(&url)).await;
    assert_eq!(read_all(&stores.0).await.len(), written.len());
    let subject = stores
        .1
        .read("/a/3".parse().unwrap(), ReadOptions::default());
    assert_eq!(subject.count().await, 714);
    stores
        .1
        .append(vec![candidate("/a/3", 1)], vec![])
        .await
        .unwrap();
    let verified = verify(&stores.0, |_| {}).await.unwrap();
    assert_eq!((verified.events, verified.damage), (5_001, vec![]));
    // An instance of the earlier version that still runs is refused.
    let outdated = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        fixture.server.query(&format!(
            "INSERT INTO {schema}.es_events (id, subject, type, source, time, predecessor_hash, hash, data) \
             SELECT 6000, subject, type, source, time, predecessor_hash, hash, data \
             FROM {schema}.es_events WHERE id = 0"
        ));
    }));
    assert!(outdated.is_err());
}
