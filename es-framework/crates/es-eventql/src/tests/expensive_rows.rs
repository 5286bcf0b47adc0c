//! Queries of which a single row needs too much memory or time.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{StreamExt as _, stream};
use tokio::{runtime, time::sleep};

use super::data;
use crate::{EventQlQuery, QueryErrorKind, QueryLimits, QueryRows};
use es_event::Subject;
use es_store::{EventLog, EventStream, ForwardingLog, ReadOptions, memory::MemoryStore};

/// Writes `[item,item,…]`.
fn array_of(item: &str, count: usize) -> String {
    format!("[{}]", vec![item; count].join(","))
}

/// Runs a query until its first row or error.
async fn first(query: &str, source: Arc<dyn EventLog>, limits: QueryLimits) -> String {
    let query = EventQlQuery::parse(query).unwrap();
    match query.run(source, limits).next().await.unwrap() {
        Ok(row) => row.get().to_owned(),
        Err(error) => error.kind().to_string(),
    }
}

/// Runs a query until its first row or error, with the default limits.
async fn first_of(query: &str, data: Arc<dyn EventLog>) -> String {
    first(query, data, QueryLimits::DEFAULT).await
}

const TOO_MUCH_MEMORY: &str = "the query needs more than 67108864 bytes of memory: narrow it with \
                               WHERE, or compute less in a row";

#[tokio::test]
async fn a_value_that_repeats_its_parts_counts_each_of_them() {
    let many = |item| array_of(item, 2_000);
    let inner = format!(
        "FROM b IN (FROM a IN events PROJECT INTO {}) PROJECT INTO {}",
        many("1"),
        many("b")
    );
    let record = format!("FROM b IN ({inner}) PROJECT INTO {{ b: b, c: [b, b] }}");
    for query in [
        inner.clone(),
        record,
        format!("FROM c IN ({inner}) PROJECT INTO c == c"),
        format!("FROM c IN ({inner}) ORDER BY c PROJECT INTO 1"),
        format!("FROM c IN ({inner}) GROUP BY c PROJECT INTO 1"),
        format!("FROM c IN ({inner}) PROJECT INTO DISTINCT c"),
    ] {
        assert_eq!(first_of(&query, data(&["{}"]).await).await, TOO_MUCH_MEMORY);
    }
}

#[tokio::test]
async fn nested_calls_of_replace_cannot_lengthen_a_text_without_end() {
    let mut query = "FROM a IN events PROJECT INTO 'xxxxxxxxxx'".to_owned();
    for _ in 0..7 {
        let to = "x".repeat(100);
        query = format!("FROM a IN ({query}) PROJECT INTO REPLACE(a, 'x', '{to}')");
    }
    assert_eq!(first_of(&query, data(&["{}"]).await).await, TOO_MUCH_MEMORY);
    let harmless = "FROM a IN events PROJECT INTO LEN(REPLACE(a.data.text, 'x', 'xxxx'))";
    let text = format!(r#"{{"text":"{}"}}"#, "x".repeat(100_000));
    assert_eq!(first_of(harmless, data(&[&text]).await).await, "400000");
}

#[tokio::test]
async fn the_data_of_an_event_counts_as_long_as_it_is_decoded() {
    let zeros = array_of("0", 100_000);
    let text = format!(r#"{{"many":{zeros},"few":{}}}"#, array_of("0", 10_000));
    let source = data(&[&text]).await;
    let limits = QueryLimits {
        memory: 2_000_000,
        ..QueryLimits::DEFAULT
    };
    let run = async |expr: &str| {
        let query = format!("FROM e IN events PROJECT INTO {expr}");
        first(&query, Arc::clone(&source), limits).await
    };
    assert_eq!(run("e.data.many").await, zeros);
    assert!(run("LEN(e.data.many)").await.contains("bytes of memory"));
    assert!(run("DISTINCT e").await.contains("bytes of memory"));
    let repeatedly = ["LEN(e.data.few)"; 10].join(" + ");
    assert_eq!(run(&repeatedly).await, "100000");
    let nested = "e.data.few == e.data.few AND ".repeat(10) + "e.data.few != null";
    assert_eq!(run(&nested).await, "true");
}

/// A query that compares, sorts and writes a value of so many levels around `inner`.
fn deep(subqueries: usize, levels: usize, inner: &str) -> String {
    let mut query = format!("FROM a IN events PROJECT INTO {inner}");
    for _ in 0..subqueries {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        query = format!("FROM a IN ({query}) PROJECT INTO DISTINCT {open}a{close}");
    }
    format!("FROM a IN ({query}) WHERE a == a ORDER BY a PROJECT INTO a")
}

#[tokio::test]
async fn the_nesting_of_a_value_is_limited_by_the_stack() {
    let text = format!(r#"{{"a":{}1{}}}"#, "[".repeat(120), "]".repeat(120));
    let source = data(&[&text, &text]).await;
    let deepest = first_of(&deep(1, 100, "[a.data.a]"), Arc::clone(&source)).await;
    assert_eq!(deepest.matches('[').count(), 221);
    for query in [deep(6, 110, "1"), deep(2, 100, "a.data.a")] {
        assert_eq!(
            first_of(&query, Arc::clone(&source)).await,
            "the query has more than 256 levels of nesting in a value"
        );
    }
}

#[tokio::test]
async fn a_row_of_the_result_is_limited_as_json() {
    // Each character has six bytes in JSON, but only one in memory.
    let text = format!(r#"{{"text":"{}"}}"#, r"\u0001".repeat(3_000_000));
    let query = "FROM e IN events PROJECT INTO TRIM(e.data.text)";
    assert_eq!(
        first_of(query, data(&[&text]).await).await,
        "a row of the result has more than 16777216 bytes: project less into it"
    );
    let query = "FROM e IN events PROJECT INTO LEN(e.data.text)";
    assert_eq!(first_of(query, data(&[&text]).await).await, "3000000");
}

/// A query whose only row takes minutes, and its event.
async fn endless_row(limits: QueryLimits) -> QueryRows {
    let text = format!(r#"{{"a":1,"b":{}}}"#, array_of("0", 500_000));
    let query = format!(
        "FROM e IN events PROJECT INTO {}",
        array_of("e.data.a", 7_000)
    );
    EventQlQuery::parse(&query)
        .unwrap()
        .run(data(&[&text]).await, limits)
}

#[test]
fn a_row_that_takes_long_keeps_no_async_thread_busy_and_ends_in_time() {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.unwrap();
    let begun = Instant::now();
    runtime.block_on(async {
        let limits = QueryLimits {
            time: Duration::from_millis(300),
            ..QueryLimits::DEFAULT
        };
        let mut rows = endless_row(limits).await;
        let mut turns = 0;
        let others = async {
            loop {
                sleep(Duration::from_millis(5)).await;
                turns += 1;
            }
        };
        let error = tokio::select! {
            row = rows.next() => row.unwrap().unwrap_err(),
            () = others => unreachable!(),
        };
        assert!(matches!(error.kind(), QueryErrorKind::Time { .. }));
        assert!(rows.next().await.is_none());
        assert!(turns > 3, "the async thread had only {turns} turns");
    });
    // This waits for the thread of the run.
    drop(runtime);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_query_ends_when_its_reader_goes_away() {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.unwrap();
    let begun = Instant::now();
    runtime.block_on(async {
        let mut rows = endless_row(QueryLimits::DEFAULT).await;
        let row = tokio::time::timeout(Duration::from_millis(100), rows.next()).await;
        assert!(row.is_err());
    });
    drop(runtime);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn rows_come_at_once_although_the_next_one_takes_long() {
    let huge = format!(r#"{{"a":1,"b":{}}}"#, array_of("0", 500_000));
    let source = data(&[r#"{"a":1}"#, &huge]).await;
    let query = format!(
        "FROM e IN events PROJECT INTO {}",
        array_of("e.data.a", 7_000)
    );
    let begun = Instant::now();
    first(&query, source, QueryLimits::DEFAULT).await;
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_panic_on_the_thread_of_a_query_reaches_its_reader() {
    #[derive(Debug)]
    struct BrokenSource;

    impl ForwardingLog for BrokenSource {
        fn inner(&self) -> MemoryStore {
            MemoryStore::new()
        }

        fn read_events(&self, _: Subject, _: ReadOptions) -> EventStream {
            stream::once(async { panic!("a defect of the source") }).boxed()
        }
    }

    let reader = tokio::spawn(first_of(
        "FROM e IN events PROJECT INTO 1",
        Arc::new(BrokenSource),
    ));
    assert!(reader.await.unwrap_err().is_panic());
}
