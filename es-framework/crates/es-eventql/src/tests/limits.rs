//! The limits of a query's time and memory.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::candidate;
use crate::{EventQlQuery, QueryErrorKind, QueryLimits, QueryRows};
use es_event::{EventId, EventTime, Hash, RecordedEvent, Subject};
use es_store::{EventStream, ForwardingLog, ReadOptions, StoreError, memory::MemoryStore};

/// A source that returns events without end, fails after some events, or never returns an event.
#[derive(Debug)]
struct EndlessSource {
    read: Arc<AtomicUsize>,
    then: fn(usize) -> Option<Result<(), StoreError>>,
    hangs: bool,
}

fn endless(then: fn(usize) -> Option<Result<(), StoreError>>) -> EndlessSource {
    EndlessSource {
        read: Arc::default(),
        then,
        hangs: false,
    }
}

impl ForwardingLog for EndlessSource {
    fn inner(&self) -> MemoryStore {
        MemoryStore::new()
    }

    fn read_events(&self, _: Subject, _: ReadOptions) -> EventStream {
        if self.hangs {
            return stream::pending().boxed();
        }
        let data = format!(r#"{{"text":"{}"}}"#, "x".repeat(1_000));
        let event = RecordedEvent::record(
            candidate(("/a", "io.example.x", &data)),
            EventId::FIRST,
            EventTime::now(),
            Hash::ZERO,
        );
        let (read, then) = (Arc::clone(&self.read), self.then);
        let next = move |index: usize| {
            read.fetch_add(1, Ordering::Relaxed);
            let mut event = event.clone();
            event.id = EventId::new(u64::try_from(index).unwrap()).unwrap();
            then(index).map(|ok| (ok.map(|()| event), index + 1))
        };
        stream::unfold(0, move |index| std::future::ready(next(index))).boxed()
    }
}

fn run(query: &str, source: EndlessSource, limits: QueryLimits) -> QueryRows {
    EventQlQuery::parse(query)
        .unwrap()
        .run(Arc::new(source), limits)
}

const SMALL: QueryLimits = QueryLimits {
    time: Duration::from_secs(20),
    memory: 1_000_000,
};

#[tokio::test]
async fn what_is_held_in_memory_is_limited() {
    for query in [
        "FROM e IN events ORDER BY e.data.text PROJECT INTO e",
        "FROM e IN events ORDER BY e.data.text TOP 100000 PROJECT INTO e",
        "FROM e IN events GROUP BY e.id PROJECT INTO COUNT()",
        "FROM e IN events PROJECT INTO MEDIAN(e.id AS INT)",
        "FROM e IN events FROM f IN events PROJECT INTO 1",
        "FROM f IN (FROM e IN events ORDER BY e.id PROJECT INTO e) PROJECT INTO f",
    ] {
        let mut rows = run(query, endless(|_| Some(Ok(()))), SMALL);
        let error = rows.next().await.unwrap().unwrap_err();
        assert!(
            matches!(
                error.kind(),
                QueryErrorKind::MemoryBudget { limit: 1_000_000 }
            ),
            "{query}: {error}"
        );
        assert!(
            rows.next().await.is_none(),
            "{query} goes on after its error"
        );
    }
    let distinct = "FROM e IN events PROJECT INTO DISTINCT e.id";
    let rows = run(distinct, endless(|_| Some(Ok(()))), SMALL).try_collect::<Vec<_>>();
    assert!(matches!(
        rows.await.unwrap_err().kind(),
        QueryErrorKind::MemoryBudget { .. }
    ));
}

#[tokio::test]
async fn the_newest_few_are_found_in_little_memory() {
    let source = endless(|index| (index < 20_000).then_some(Ok(())));
    let query =
        "FROM e IN events ORDER BY e.id AS INT + 0 DESC SKIP 1 TOP 2 PROJECT INTO e.id AS INT";
    let rows: Vec<_> = run(query, source, SMALL).try_collect().await.unwrap();
    assert_eq!(
        rows.iter().map(|row| row.get()).collect::<Vec<_>>(),
        ["19998", "19997"]
    );
}

#[tokio::test]
async fn time_is_limited_whether_events_come_or_not() {
    let limits = QueryLimits {
        time: Duration::from_millis(50),
        ..QueryLimits::default()
    };
    let busy = endless(|_| Some(Ok(())));
    let hanging = EndlessSource {
        hangs: true,
        ..endless(|_| None)
    };
    for source in [busy, hanging] {
        let mut rows = run("FROM e IN events PROJECT INTO COUNT()", source, limits);
        let error = rows.next().await.unwrap().unwrap_err();
        assert_eq!(
            error.to_string(),
            "the query was stopped after 0.05 seconds"
        );
        assert!(rows.next().await.is_none());
    }
    let mut rows = run(
        "FROM e IN events PROJECT INTO 1",
        endless(|_| Some(Ok(()))),
        limits,
    );
    let ended = async { while rows.next().await.unwrap().is_ok() {} };
    tokio::time::timeout(Duration::from_secs(20), ended)
        .await
        .unwrap();
}

#[tokio::test]
async fn rows_are_read_only_as_they_are_asked_for() {
    let source = endless(|_| Some(Ok(())));
    let read = Arc::clone(&source.read);
    let mut rows = run(
        "FROM e IN events WHERE true PROJECT INTO e.id",
        source,
        SMALL,
    );
    assert_eq!(read.load(Ordering::Relaxed), 0);
    for _ in 0..3 {
        rows.next().await.unwrap().unwrap();
    }
    drop(rows);
    // The thread of the run reads ahead until its rows fill two batches.
    assert!(read.load(Ordering::Relaxed) < 3_000);
    let top = run(
        "FROM e IN events TOP 2 PROJECT INTO 1",
        endless(|_| Some(Ok(()))),
        SMALL,
    );
    assert_eq!(top.try_collect::<Vec<_>>().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_store_that_fails_ends_the_query_with_its_error() {
    let failing = |index: usize| {
        Some(if index < 2 {
            Ok(())
        } else {
            Err(StoreError::Refused("no".into()))
        })
    };
    for (query, before) in [
        ("FROM e IN events PROJECT INTO 1", 2),
        ("FROM e IN events PROJECT INTO COUNT()", 0),
        ("FROM s IN subjects PROJECT INTO s", 0),
    ] {
        let mut rows = run(query, endless(failing), SMALL);
        for _ in 0..before {
            rows.next().await.unwrap().unwrap();
        }
        let error = rows.next().await.unwrap().unwrap_err();
        assert!(
            matches!(error.kind(), QueryErrorKind::Store(StoreError::Refused(_))),
            "{error}"
        );
    }
}
