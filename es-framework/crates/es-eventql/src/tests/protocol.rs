//! The queries that clients of the protocol send, with the expected rows.

use std::{sync::Arc, time::Duration};

use super::{EventParts, data, rows, source};
use crate::{EventQlQuery, QueryLimits};

const TEST: &str = "io.eventsourcingdb.test";

#[tokio::test]
async fn whole_events_come_in_the_order_of_their_ids() {
    let given = [
        ("/a", TEST, r#"{"value":23}"#),
        ("/b", TEST, r#"{"value":42}"#),
    ];
    let rows = rows("FROM e IN events PROJECT INTO e", &source(&given).await).await;
    let rows: Vec<serde_json::Value> = rows
        .iter()
        .map(|row| serde_json::from_str(row).unwrap())
        .collect();
    assert_eq!(rows.len(), 2);
    for (index, value) in [(0, 23), (1, 42)] {
        assert_eq!(rows[index]["id"], index.to_string());
        assert_eq!(rows[index]["data"]["value"], value);
        assert_eq!(rows[index]["specversion"], "1.0");
        assert_eq!(rows[index]["type"], TEST);
        assert!(rows[index]["signature"].is_null());
    }
    assert_eq!(rows[1]["predecessorhash"], rows[0]["hash"]);
}

#[tokio::test]
async fn an_empty_store_gives_no_rows_but_one_of_an_aggregate() {
    let empty = source(&[]).await;
    for none in [
        "FROM e IN events PROJECT INTO e",
        "FROM e IN events ORDER BY e.time DESC TOP 100 PROJECT INTO e",
        "FROM e IN events TOP 100 PROJECT INTO e",
    ] {
        assert_eq!(rows(none, &empty).await, [""; 0], "{none}");
    }
    for (query, row) in [
        ("FROM e IN events PROJECT INTO COUNT() == 0", "true"),
        ("FROM e IN events PROJECT INTO COUNT() > 0", "false"),
        ("FROM e IN events PROJECT INTO COUNT() < 10", "true"),
    ] {
        assert_eq!(rows(query, &empty).await, [row], "{query}");
    }
}

#[tokio::test]
async fn newest_first_takes_the_latest() {
    let source = data(&[r#"{"v":1}"#, r#"{"v":2}"#, r#"{"v":3}"#]).await;
    let query = "FROM e IN events ORDER BY e.time DESC TOP 2 PROJECT INTO e.data.v";
    assert_eq!(rows(query, &source).await, ["3", "2"]);
}

#[tokio::test]
async fn a_projection_may_be_any_value() {
    let source = data(&[r#"{"value":42,"name":"hello"}"#]).await;
    for (projection, row) in [
        ("e.data.value", "42"),
        ("e.data.value > 0", "true"),
        ("e.data.name", r#""hello""#),
        ("null", "null"),
        ("e.data.missing.deeper", "null"),
    ] {
        let query = format!("FROM e IN events PROJECT INTO {projection}");
        assert_eq!(rows(&query, &source).await, [row], "{query}");
    }
}

#[tokio::test]
async fn averages_and_counts_need_no_blank_before_project() {
    let given = [
        ("/a", TEST, r#"{"value":23}"#),
        ("/a", TEST, r#"{"value":42}"#),
        ("/a", "io.eventsourcingdb.other", r#"{"value":"no number"}"#),
    ];
    let query = r#"FROM e IN events WHERE e.type == "io.eventsourcingdb.test"PROJECT INTO { average: AVG(e.data.value), count: COUNT() } "#;
    let row = r#"{"average":32.5,"count":2}"#;
    assert_eq!(rows(query, &source(&given).await).await, [row]);
}

#[tokio::test]
async fn single_quotes_name_a_subject() {
    let given: [EventParts<'_>; 3] = [
        ("/book/1", TEST, r#"{"pages": 1}"#),
        ("/book/2", TEST, r#"{"pages": 2}"#),
        ("/book/1", TEST, r#"{"pages": 3}"#),
    ];
    let source = source(&given).await;
    for (projection, expected) in [
        ("e.data", [r#"{"pages": 1}"#, r#"{"pages": 3}"#]),
        ("e.id", [r#""0""#, r#""2""#]),
        ("e.id AS INT", ["0", "2"]),
        ("{ time: e.subject }", [r#"{"time":"/book/1"}"#; 2]),
        ("{ page : e.subject }", [r#"{"page":"/book/1"}"#; 2]),
    ] {
        let query =
            format!("FROM e IN events WHERE e.subject == '/book/1' PROJECT INTO {projection}");
        assert_eq!(rows(&query, &source).await, expected, "{query}");
    }
    let times = rows(
        "FROM e IN events WHERE e.subject == '/book/1' PROJECT INTO e.time",
        &source,
    )
    .await;
    assert!(times.iter().all(|time| time.ends_with("Z\"")), "{times:?}");
    let some = "FROM e IN events WHERE e.subject == '/book/1' PROJECT INTO COUNT() > 0";
    assert_eq!(rows(some, &source).await, ["true"]);
}

#[tokio::test]
async fn a_precondition_holds_for_exactly_one_row_that_is_true() {
    let source = data(&["{}", "{}"]).await;
    let limits = QueryLimits {
        time: Duration::from_secs(10),
        ..QueryLimits::default()
    };
    for (query, holds) in [
        ("FROM e IN events PROJECT INTO COUNT() == 2", true),
        ("FROM e IN events PROJECT INTO COUNT() == 0", false),
        ("FROM e IN events PROJECT INTO true", false),
        ("FROM e IN events TOP 1 PROJECT INTO true", true),
        ("FROM e IN events TOP 1 PROJECT INTO 'true'", false),
        ("FROM e IN events TOP 1 PROJECT INTO 1", false),
        ("FROM e IN events TOP 0 PROJECT INTO true", false),
    ] {
        let parsed = EventQlQuery::parse(query).unwrap();
        let result = parsed.boolean_result(Arc::clone(&source), limits).await;
        assert_eq!(result.unwrap() == Some(true), holds, "{query}");
    }
}
