//! Events, subjects and event types as rows.

use serde_json::value::RawValue;

use super::{data, rows, source};
use crate::{
    QueryLimits,
    query_budget::{QueryBudget, RowBudget},
    value::Value,
};
use es_event::{Dialect, EventId, EventTime, Hash, RecordedEvent, TraceContext};

fn event(trace: Option<TraceContext>) -> RecordedEvent {
    let mut candidate = super::candidate(("/a/b", "io.example.x", r#"{"b":1.50,"a":"\u00e4"}"#));
    candidate.trace = trace;
    RecordedEvent::record(candidate, EventId::FIRST, EventTime::now(), Hash::ZERO)
}

#[test]
fn a_whole_event_is_written_as_in_the_stream_of_events() {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for trace in [
        None,
        TraceContext::new(Some(parent), None).unwrap(),
        TraceContext::new(Some(parent), Some("a=1")).unwrap(),
    ] {
        let event = event(trace);
        let mut expected = Vec::new();
        Dialect::Event.write_recorded(&event, None, &mut expected);
        let written = serde_json::to_string(&Value::Event(event.into())).unwrap();
        assert_eq!(written, String::from_utf8(expected).unwrap());
    }
}

#[tokio::test]
async fn data_is_passed_on_to_the_byte() {
    let text = r#"{"n":1.50,"big":123456789012345678901234567890,"e":1e2,"z":-0,"s":"\u00e4\/","l":[ 1.0 ],"x":"\ud800"}"#;
    let source = data(&[text]).await;
    for (projection, row) in [
        ("e.data", text),
        ("e.data.n", "1.50"),
        ("e.data.big", "123456789012345678901234567890"),
        ("e.data.e", "1e2"),
        ("e.data.z", "-0"),
        ("e.data.l", "[ 1.0 ]"),
        ("e.data.l[0]", "1.0"),
        ("e.data.l[1]", "null"),
        ("e.data.l[0 - 1]", "null"),
        ("e.data['n']", "1.50"),
        ("e.data.n.deeper", "null"),
        ("e.data.x", r#""\ud800""#),
        ("[e.data.n, e.data.n + 0]", "[1.50,1.5]"),
    ] {
        let query = format!("FROM e IN events PROJECT INTO {projection}");
        assert_eq!(rows(&query, &source).await, [row], "{query}");
    }
}

#[tokio::test]
async fn a_name_written_twice_means_its_last_value() {
    let source = data(&[r#"{"a":1,"o":{"x":1,"x":2},"a":2}"#]).await;
    let query = "FROM e IN events PROJECT INTO [e.data.a, e.data.o.x, e.data.o == { x: 2 }]";
    assert_eq!(rows(query, &source).await, ["[2,2,true]"]);
}

#[tokio::test]
async fn every_field_of_an_event_can_be_read() {
    let source = data(&["{}"]).await;
    for (field, row) in [
        ("specversion", r#""1.0""#),
        ("source", r#""https://example.io""#),
        ("subject", r#""/a""#),
        ("type", r#""io.example.x""#),
        ("datacontenttype", r#""application/json""#),
        ("traceparent", "null"),
        ("tracestate", "null"),
        ("signature", "null"),
        ("nothing", "null"),
    ] {
        let query = format!("FROM e IN events PROJECT INTO e.{field}");
        assert_eq!(rows(&query, &source).await, [row], "{query}");
    }
    let query = "FROM e IN events PROJECT INTO [LEN(e.hash), LEN(e.predecessorhash), LEN(e.time)]";
    assert_eq!(rows(query, &source).await, ["[64,64,30]"]);
    let query = "FROM e IN events WHERE e == e PROJECT INTO e.id";
    assert_eq!(rows(query, &source).await, [r#""0""#]);
}

#[tokio::test]
async fn subjects_come_with_those_above_them_and_types_once_each() {
    let given = [
        ("/b/2", "io.example.y", "{}"),
        ("/b/1", "io.example.x", "{}"),
        ("/b/1", "io.example.x", "{}"),
    ];
    let source = source(&given).await;
    let subjects = rows("FROM s IN subjects PROJECT INTO s", &source).await;
    assert_eq!(subjects, [r#""/""#, r#""/b""#, r#""/b/1""#, r#""/b/2""#]);
    let types = rows("FROM t IN eventtypes PROJECT INTO t", &source).await;
    assert_eq!(types, [r#""io.example.x""#, r#""io.example.y""#]);
    let empty = super::source(&[]).await;
    assert_eq!(
        rows("FROM s IN subjects PROJECT INTO s", &empty).await,
        [""; 0]
    );
}

#[test]
fn a_number_that_no_float_holds_cannot_be_computed_with() {
    let raw = RawValue::from_string("1e999".into()).unwrap();
    let budget = QueryBudget::new(QueryLimits::DEFAULT);
    let decoded = Value::Json(raw.into()).decode(&RowBudget::new(&budget));
    assert!(decoded.is_err());
}
