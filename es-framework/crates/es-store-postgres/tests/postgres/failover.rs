//! The primary ends or hangs under load, and a synchronous standby takes its place.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use es_event::{RecordedEvent, Subject};
use es_store::{
    AppendError, EventLog as _, ObserveOptions, ReadOptions, StoreCatalog as _, StoreError,
};
use es_store_postgres::PostgresStore;
use futures_util::{StreamExt as _, TryStreamExt as _};

use crate::{
    cluster::Cluster,
    postgres_server::PostgresServer,
    store_fixture::{assert_chain, candidate, open, read_all},
};

/// The events that one client knows to be written, those that are not, and those of which it knows
/// nothing.
#[derive(Default)]
pub(crate) struct WriterLog {
    written: Vec<String>,
    unknown: Vec<String>,
    refused: Vec<String>,
}

pub(crate) async fn write_until(
    store: PostgresStore,
    writer: usize,
    is_done: Arc<AtomicBool>,
) -> WriterLog {
    let mut log = WriterLog::default();
    for number in 0.. {
        if is_done.load(Ordering::Relaxed) {
            break;
        }
        let event = candidate(&format!("/writers/{writer}/{number}"), number);
        let subject = event.subject.to_string();
        match store.append(vec![event], vec![]).await {
            Ok(_) => log.written.push(subject),
            Err(AppendError::Unknown { .. }) => log.unknown.push(subject),
            Err(AppendError::Store(StoreError::Unavailable { .. })) => log.refused.push(subject),
            Err(error) => panic!("{error}"),
        }
    }
    log
}

async fn fail_over(signal: &str) {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let url = cluster.url();
    let stores = [open(&url).await, open(&url).await];
    let is_done = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..64)
        .map(|writer| {
            let store = stores[writer % 2].clone();
            tokio::spawn(write_until(store, writer, Arc::clone(&is_done)))
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(800)).await;
    cluster.primary.signal(signal);
    tokio::time::sleep(Duration::from_millis(300)).await;
    cluster.promote();
    let promoted = Instant::now();
    for store in &stores {
        // A command reads before it writes.
        let subject: Subject = "/after".parse().unwrap();
        let read = store.read(subject, ReadOptions::default());
        let _: Vec<RecordedEvent> = read.try_collect().await.unwrap();
        store
            .append(vec![candidate("/after", 0)], vec![])
            .await
            .unwrap();
    }
    let recovery = promoted.elapsed();
    // It takes up to three seconds where the machine does nothing else.
    assert!(recovery < Duration::from_secs(30), "{recovery:?}");
    tokio::time::sleep(Duration::from_millis(800)).await;
    is_done.store(true, Ordering::Relaxed);
    let mut logs = Vec::new();
    for writer in writers {
        logs.push(writer.await.unwrap());
    }
    // An old primary that works again takes no write and answers no read of these instances.
    cluster.primary.signal("-CONT");
    for store in &stores {
        let after = vec![candidate("/after", 0)];
        store.append(after, vec![]).await.unwrap();
    }
    eprintln!("writes again after {recovery:?}");
    check_log(&stores[1], &logs).await;
}

/// Checks that each confirmed event is stored once, that no refused one is stored, and that the chain is whole.
pub(crate) async fn check_log(store: &PostgresStore, logs: &[WriterLog]) {
    let events = read_all(store).await;
    assert_chain(&events);
    let stored = events.iter().map(|event| event.subject.to_string());
    let stored: Vec<_> = stored.filter(|subject| subject != "/after").collect();
    let distinct: HashSet<_> = stored.iter().cloned().collect();
    assert_eq!(stored.len(), distinct.len(), "an event is stored twice");
    for log in logs {
        assert!(log.written.iter().all(|subject| distinct.contains(subject)));
        assert!(!log.refused.iter().any(|subject| distinct.contains(subject)));
    }
    let count =
        |of: fn(&WriterLog) -> &Vec<String>| logs.iter().map(|log| of(log).len()).sum::<usize>();
    let (written, unknown) = (count(|log| &log.written), count(|log| &log.unknown));
    eprintln!("{written} written, {unknown} unknown");
}

/// The long form is `FAILOVER_ROUNDS=20 cargo test -p es-store-postgres failover::a_`.
fn rounds() -> usize {
    let rounds = std::env::var("FAILOVER_ROUNDS").ok();
    rounds.map_or(1, |rounds| rounds.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_primary_loses_no_confirmed_event() {
    for _ in 0..rounds() {
        fail_over("-KILL").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_that_hangs_loses_no_confirmed_event() {
    for _ in 0..rounds() {
        fail_over("-STOP").await;
    }
}

/// Waits until a standby has all that the primary has written.
async fn await_replay(primary: &PostgresServer, standby: &PostgresServer) {
    let written = primary.query("SELECT pg_current_wal_lsn()");
    let replayed = format!("SELECT pg_last_wal_replay_lsn() >= '{}'", written.trim());
    while standby.query(&replayed).trim() != "t" {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subscription_leaves_an_old_primary_that_still_answers_reads() {
    let Some(primary) = PostgresServer::start() else {
        return;
    };
    let standby = primary.start_standby();
    let hosts = format!("{},{}", primary.host(), standby.host());
    let url = format!("postgres://postgres@{hosts}/postgres");
    // The first instance writes after the promotion, the second one only reads.
    let stores = [open(&url).await, open(&url).await];
    let subscribe = |store: &PostgresStore| {
        store.observe(Subject::root(), ObserveOptions::recursive_after(None))
    };
    let mut subscriptions = stores.each_ref().map(subscribe);
    for number in 0..10 {
        if number == 5 {
            await_replay(&primary, &standby).await;
            primary.set("default_transaction_read_only", "on");
            standby.query("SELECT pg_promote()");
        }
        let events = vec![candidate("/a", number)];
        stores[0].append(events, vec![]).await.unwrap();
        for subscription in &mut subscriptions {
            let next = tokio::time::timeout(Duration::from_secs(20), subscription.next());
            let event = next.await.expect("an event is skipped").unwrap().unwrap();
            assert_eq!(event.id.get(), u64::try_from(number).unwrap());
        }
    }
    assert_eq!(standby.query("SELECT last FROM es_head").trim(), "9");
    assert_eq!(primary.query("SELECT last FROM es_head").trim(), "4");
    assert_chain(&read_all(&stores[1]).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_instance_refuses_to_work_after_confirmed_events_were_lost() {
    let Some(primary) = PostgresServer::start() else {
        return;
    };
    let standby = primary.start_standby();
    let hosts = format!("{},{}", primary.host(), standby.host());
    let url = format!("postgres://postgres@{hosts}/postgres");
    let store = open(&url).await;
    store
        .append(vec![candidate("/a", 0)], vec![])
        .await
        .unwrap();
    await_replay(&primary, &standby).await;
    standby.set("primary_conninfo", "");
    // The standby applies the setting a moment later, and receives events until then.
    let is_receiving = "SELECT count(*) FROM pg_stat_wal_receiver";
    while standby.query(is_receiving).trim() != "0" {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    store
        .append(vec![candidate("/a", 1)], vec![])
        .await
        .unwrap();
    primary.signal("-KILL");
    standby.query("SELECT pg_promote()");
    // Another instance writes an event with the same id.
    let other = open(&url).await;
    other
        .append(vec![candidate("/a", 2)], vec![])
        .await
        .unwrap();

    let refused = store.append(vec![candidate("/a", 3)], vec![]).await;
    let Err(AppendError::Store(StoreError::Unavailable { reason, .. })) = refused else {
        panic!("{refused:?}");
    };
    let lost = "event 1 is damaged: it was confirmed, and the log has lost it or has another one";
    assert!(reason.contains(lost), "{reason}");
    assert!(store.health().await.is_err());
    // The log is closed for the other instance as well.
    let refused = other.append(vec![candidate("/a", 3)], vec![]).await;
    assert!(refused.is_err());
    let events = read_all(&other).await;
    assert_eq!(events.len(), 2);
    assert_chain(&events);
}
