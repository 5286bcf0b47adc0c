//! Tests of the guarantees that only this adapter has.

mod damage;
mod damaged_index;
mod damaged_tables;
mod detached_volume;
mod disk;
mod earlier_rules;
mod hash_versions;
mod lines;
mod model;
mod recursive_cost;
mod reopen;
mod restore;
mod support;
mod type_postings;

use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _};

use self::support::{append, candidate, eventually, pristine, tiny};
use crate::{EmbeddedStore, shared::InjectedFault};
use es_event::Subject;
use es_store::{
    AppendError, EventLog as _, EventSchema, ObserveOptions, ReadOptions, RegisterError,
    StoreCatalog as _, StoreError, contract,
};

#[tokio::test]
async fn the_embedded_store_keeps_the_contract() {
    contract::run(|| async { EmbeddedStore::temporary().unwrap() }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_that_nobody_would_set_change_nothing() {
    let empty = || async { EmbeddedStore::temporary_with(tiny()).unwrap() };
    contract::run(empty).await;
}

#[tokio::test]
async fn an_idle_store_brings_its_index_to_the_disk() {
    let mut settings = tiny();
    (settings.memtable_entries, settings.idle) = (1_000, Duration::from_millis(1));
    let store = EmbeddedStore::temporary_with(settings).unwrap();
    for number in 0..10 {
        append(&store, &[&format!("/a/{number}")]).await.unwrap();
    }
    eventually(|| store.open.shared.log().index.covered() == 10).await;
    let read = store.read("/a".parse().unwrap(), ReadOptions::recursive());
    assert_eq!(read.try_collect::<Vec<_>>().await.unwrap().len(), 10);
}

#[tokio::test]
async fn a_closed_store_takes_nothing_more_and_ends_its_observers() {
    let store = EmbeddedStore::temporary().unwrap();
    append(&store, &["/a"]).await.unwrap();
    let mut observer = store.observe(Subject::root(), ObserveOptions::recursive_after(None));
    assert!(observer.next().await.unwrap().is_ok());
    store.close().await;
    let refused = append(&store, &["/b"]).await;
    assert!(
        matches!(
            refused,
            Err(AppendError::Store(StoreError::Unavailable { .. }))
        ),
        "{refused:?}"
    );
    assert!(store.health().await.is_err());
    assert!(observer.next().await.unwrap().is_err());
}

#[tokio::test]
async fn a_bug_in_the_writer_leaves_nobody_waiting_and_the_store_at_work() {
    let store = EmbeddedStore::temporary_with(tiny()).unwrap();
    append(&store, &["/a"]).await.unwrap();
    store.open.shared.inject(InjectedFault::Panic);
    let _ = append(&store, &["/b"]).await;
    assert!(store.health().await.is_ok());
    let recorded = append(&store, &["/c"]).await.unwrap();
    let read = store.read(Subject::root(), ReadOptions::recursive());
    let events: Vec<_> = read.try_collect().await.unwrap();
    assert_eq!(
        events.last().map(|event| event.id),
        recorded.first().map(|event| event.id)
    );
    support::assert_chain(&events);
}

#[tokio::test]
async fn a_registration_that_the_writer_does_not_answer_is_unknown() {
    let store = EmbeddedStore::temporary_with(tiny()).unwrap();
    store.open.shared.inject(InjectedFault::Panic);
    let schema = EventSchema::parse(r#"{"type":"object","properties":{}}"#).unwrap();
    let event_type = "io.example.Happened".parse().unwrap();
    let outcome = store.register_event_schema(event_type, schema).await;
    assert!(
        matches!(outcome, Err(RegisterError::Unknown { .. })),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn an_append_that_is_too_large_is_refused() {
    let store = EmbeddedStore::temporary().unwrap();
    let mut large = candidate("/a", 0);
    let text = format!("{{\"text\":\"{}\"}}", "x".repeat(65 << 20));
    large.data = serde_json::value::RawValue::from_string(text).unwrap();
    let refused = store.append(vec![large], vec![]).await;
    assert!(
        matches!(refused, Err(AppendError::Store(StoreError::Refused(_)))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_full_queue_says_that_it_is_overloaded() {
    let mut settings = tiny();
    (settings.queue.kib, settings.queue.wait) = (1, Duration::from_millis(20));
    settings.lock_wait = Duration::from_secs(5);
    let store = EmbeddedStore::temporary_with(settings).unwrap();
    // The writer waits while another connection holds the database's write lock.
    let other = rusqlite::Connection::open(store.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let first = tokio::spawn({
        let store = store.clone();
        async move { append(&store, &["/a"]).await }
    });
    eventually(|| store.open.admission.free_kib() == 0).await;
    let refused = append(&store, &["/b"]).await.unwrap_err().to_string();
    assert!(refused.contains("overloaded"), "{refused}");
    other.execute_batch("ROLLBACK").unwrap();
    assert!(first.await.unwrap().is_ok());
    assert!(append(&store, &["/b"]).await.is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_the_same_batch_only_what_conflicts_is_refused() {
    let store = EmbeddedStore::temporary().unwrap();
    let writers = (0..64).map(|number| {
        let subject = format!("/a/{}", number % 16);
        let store = store.clone();
        tokio::spawn(async move {
            let candidates = vec![candidate(&subject, number)];
            store
                .append(candidates, vec![pristine(&subject)])
                .await
                .is_ok()
        })
    });
    let passed = futures_util::future::join_all(writers).await;
    assert_eq!(
        passed
            .into_iter()
            .filter(|passed| *passed.as_ref().unwrap())
            .count(),
        16
    );
}
