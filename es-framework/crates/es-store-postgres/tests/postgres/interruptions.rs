//! Connections that end at any moment.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use es_store::{AppendError, EventLog as _, StoreCatalog as _};
use futures_util::future::join_all;

use crate::connection_proxy::ConnectionProxy;
use crate::store_fixture::{StoreFixture, assert_chain, candidate, open, read_all};

/// Ends the sessions, which the server notices before the client does.
const END_SESSIONS: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
     WHERE application_name = 'event-store'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_append_is_lost_or_repeated_when_connections_are_cut() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let fixture = Arc::new(fixture);
    let proxy = ConnectionProxy::start(fixture.server.host()).await;
    let url = fixture.url(&fixture.schema(), "");
    let url = url.replace(&fixture.server.host(), &format!("127.0.0.1:{}", proxy.port));
    let stores = [open(&url).await, open(&url).await];
    let (is_done, appends) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let cutter = std::thread::spawn({
        let (fixture, is_done) = (Arc::clone(&fixture), Arc::clone(&is_done));
        let appends = Arc::clone(&appends);
        // A slow machine would not finish an append between two cuts of a fixed pause.
        let await_append = move || {
            let before = appends.load(Ordering::Relaxed);
            while appends.load(Ordering::Relaxed) == before && !is_done.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(10));
            }
            !is_done.load(Ordering::Relaxed)
        };
        move || {
            while await_append() {
                fixture.server.query(END_SESSIONS);
                if await_append() {
                    proxy.cut();
                }
            }
        }
    });
    let writers = (0..16).map(|writer: usize| {
        let (store, appends) = (&stores[writer % 2], &appends);
        async move {
            let mut written = HashSet::new();
            for number in 0..60 {
                let events = vec![candidate(&format!("/writers/{writer}"), number)];
                match store.append(events, vec![]).await {
                    Ok(recorded) => {
                        assert!(written.insert(recorded[0].data.get().to_owned()));
                        appends.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(AppendError::Unknown { reason, .. }) => panic!("unknown: {reason}"),
                    Err(error) => panic!("{error}"),
                }
            }
            written.len()
        }
    });
    let written: usize = join_all(writers).await.into_iter().sum();
    is_done.store(true, Ordering::Relaxed);
    cutter.join().unwrap();
    let events = read_all(&stores[0]).await;
    assert_eq!((events.len(), written), (960, 960));
    assert_chain(&events);
    let distinct: HashSet<_> = events
        .iter()
        .map(|event| (event.subject.clone(), event.data.get().to_owned()))
        .collect();
    assert_eq!(distinct.len(), 960);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_checks_that_wait_share_one_transaction() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let schema = fixture.schema();
    let store = fixture.open(&schema, "").await;
    let count_transactions = || {
        let count = fixture.server.query("SELECT txid_current()");
        count.trim().parse::<u64>().unwrap()
    };
    let before = count_transactions();
    let lock = format!("SELECT last FROM {schema}.es_head FOR UPDATE; SELECT pg_sleep(1)");
    std::thread::scope(|scope| {
        let holder = scope.spawn(|| fixture.server.query(&lock));
        tokio::task::block_in_place(|| {
            let checks = async {
                tokio::time::sleep(Duration::from_millis(200)).await;
                join_all((0..50).map(|_| store.health())).await
            };
            let checks = tokio::runtime::Handle::current().block_on(checks);
            assert!(checks.iter().all(Result::is_ok), "{checks:?}");
        });
        holder.join().unwrap();
    });
    // The lock, the first check, the others together, and the statement that counts.
    let transactions = count_transactions() - before;
    assert!(transactions <= 4, "{transactions}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_that_hangs_in_a_transaction_does_not_stop_the_others() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let schema = fixture.schema();
    let store = fixture.open(&schema, "").await;
    // As an instance would leave it that is suspended in the middle of a batch.
    let lock = format!(
        "SET idle_in_transaction_session_timeout = '2s'; \
         SELECT last FROM {schema}.es_head FOR UPDATE; SELECT pg_sleep(3)"
    );
    let url = fixture.server.url();
    let holder = std::thread::spawn(move || {
        let fixture = fixture;
        fixture.server.query(&lock);
        fixture
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    let written = store.append(vec![candidate("/a", 1)], vec![]).await;
    assert!(written.is_ok(), "{url}: {written:?}");
    drop(holder.join().unwrap());
}
