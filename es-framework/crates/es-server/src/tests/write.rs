//! Writing events.

use serde_json::{Value, json};

use super::{TestServer, candidate};
use es_event::Dialect;

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// A write of one event with one member changed.
fn with(member: &str, value: Value) -> Value {
    let mut event = candidate("/a");
    event[member] = value;
    json!({"events": [event]})
}

fn under(precondition: Value) -> Value {
    json!({"events": [candidate("/a")], "preconditions": [precondition]})
}

async fn refusal(server: &TestServer, body: &Value) -> String {
    let (status, text) = server.answer("write-events", body).await;
    assert_eq!(status, 400, "{body}: {text}");
    assert!(text.ends_with('\n'), "{text}");
    text
}

#[tokio::test]
async fn the_newer_dialect_answers_with_whole_events() {
    let server = TestServer::start(Dialect::Event).await;
    let body = r#"{"events":[{"source":"tag:test","subject":"/a","type":"io.example.test","data": { "b" : 1.50, "a" : [ "x y" ] }}]}"#;
    let request = server.post("/api/v1/write-events").body(body);
    let text = request.send().await.unwrap().text().await.unwrap();
    assert!(
        text.contains(r#""data":{"b":1.50,"a":["x y"]},"hash":""#),
        "{text}"
    );
    assert!(text.ends_with(r#","signature":null}]"#), "{text}");
    let (_, read) = server
        .answer("read-events", &json!({"subject": "/a"}))
        .await;
    let event = text.trim_start_matches('[').trim_end_matches(']');
    assert_eq!(
        read,
        format!("{{\"type\":\"event\",\"payload\":{event}}}\n")
    );
}

#[tokio::test]
async fn the_older_dialect_answers_without_data_and_hash() {
    let server = TestServer::start(Dialect::Item).await;
    let (status, text) = server
        .answer("write-events", &with("source", json!("app")))
        .await;
    assert_eq!(status, 200);
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written[0]["id"], "0");
    assert_eq!(written[0]["source"], "app");
    assert!(written[0].get("data").is_none() && written[0].get("hash").is_none());
    let (_, line) = server
        .answer("read-events", &json!({"subject": "/a"}))
        .await;
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(line["type"], "item");
    assert_eq!(line["payload"]["event"]["data"], json!({}));
    assert_eq!(line["payload"]["hash"].as_str().unwrap().len(), 64);
}

#[tokio::test]
async fn a_wrong_candidate_is_named_with_what_is_wrong() {
    let server = TestServer::start(Dialect::Event).await;
    let long = format!("tag:{}", "x".repeat(5_000));
    for (member, value, expected) in [
        (
            "subject",
            json!("no slash"),
            "events[0].subject: malformed subject",
        ),
        ("subject", json!(""), "subject"),
        ("subject", json!("/user/günter"), "subject"),
        ("subject", json!(7), "events[0].subject"),
        (
            "type",
            json!("malformed.event.type."),
            "invalid event type: 'malformed",
        ),
        ("type", Value::Null, "events[0].type"),
        (
            "data",
            json!([1]),
            "events[0].data: an event's data is a JSON object, not an array",
        ),
        ("data", Value::Null, "not null"),
        ("data", json!("text"), "not a string"),
        ("source", json!(""), "events[0].source"),
        ("source", json!("my-app"), "a source is a URI"),
        ("source", json!(long), "2048"),
        ("traceparent", json!("00-1-2-3"), "invalid traceparent"),
        ("tracestate", json!("a=1"), "invalid tracestate"),
    ] {
        let text = refusal(&server, &with(member, value)).await;
        assert!(text.contains(expected), "{text}");
    }
    let second = json!({"events": [candidate("/a"), candidate("b")]});
    assert!(
        refusal(&server, &second)
            .await
            .contains("events[1].subject")
    );
    let text = refusal(&server, &json!({"events": [{"source": "tag:x"}]})).await;
    assert!(text.contains("missing field `subject`"), "{text}");
    assert!(
        server
            .ids(&json!({"subject": "/", "options": {"recursive": true}}))
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn a_write_without_events_is_refused() {
    let server = TestServer::start(Dialect::Item).await;
    let text = refusal(&server, &json!({"events": []})).await;
    assert!(text.contains("at least one event"), "{text}");
    refusal(&server, &json!({})).await;
    refusal(&server, &json!({"events": null})).await;
}

#[tokio::test]
async fn a_source_of_the_older_dialect_is_any_plain_text() {
    let server = TestServer::start(Dialect::Item).await;
    let (status, _) = server
        .answer("write-events", &with("source", json!("library-service")))
        .await;
    assert_eq!(status, 200);
    refusal(&server, &with("source", json!("line\nbreak"))).await;
}

#[tokio::test]
async fn a_trace_is_taken_in_both_spellings() {
    let server = TestServer::start(Dialect::Event).await;
    for (parent, state) in [("traceparent", "tracestate"), ("traceParent", "traceState")] {
        let mut event = candidate("/a");
        event[parent] = json!(TRACE);
        event[state] = json!("vendor=1");
        let (status, text) = server
            .answer("write-events", &json!({"events": [event]}))
            .await;
        assert_eq!(status, 200, "{text}");
        let expected = format!(r#""traceparent":"{TRACE}","tracestate":"vendor=1""#);
        assert!(text.contains(&expected), "{text}");
    }
    let (_, text) = server
        .answer("write-events", &with("data", json!({})))
        .await;
    assert!(!text.contains("trace"), "{text}");
}

#[tokio::test]
async fn preconditions_are_checked() {
    let server = TestServer::start(Dialect::Item).await;
    server.fill(&["/a"]).await;
    let subject = |subject| json!({"subject": subject});
    let on =
        |id| json!({"type": "isSubjectOnEventId", "payload": {"subject": "/a", "eventId": id}});
    for violated in [
        json!({"type": "isSubjectPristine", "payload": subject("/a")}),
        json!({"type": "isSubjectPopulated", "payload": subject("/b")}),
        on("7"),
    ] {
        let answer = server.answer("write-events", &under(violated)).await;
        assert_eq!(
            answer,
            (409, "state conflict: precondition failed\n".into())
        );
    }
    for (id, held) in [
        (
            "1",
            json!({"type": "isSubjectPristine", "payload": subject("/b")}),
        ),
        (
            "2",
            json!({"type": "isSubjectPopulated", "payload": subject("/a")}),
        ),
        ("3", on("2")),
    ] {
        let (status, text) = server.answer("write-events", &under(held)).await;
        assert_eq!(status, 200, "{text}");
        assert!(text.contains(&format!(r#""id":"{id}""#)), "{text}");
    }
    for none in [json!([]), Value::Null] {
        let body = json!({"events": [candidate("/a")], "preconditions": none});
        assert_eq!(server.answer("write-events", &body).await.0, 200);
    }
}

#[tokio::test]
async fn a_precondition_that_nobody_knows_is_refused() {
    let server = TestServer::start(Dialect::Item).await;
    for (unknown, expected) in [
        (
            json!({"type": "isSubjectNice", "payload": {"subject": "/a"}}),
            "isSubjectNice",
        ),
        (
            json!({"type": "isSubjectPristine", "payload": {"subject": "/a", "options": {}}}),
            "unknown field `options`",
        ),
        (
            json!({"type": "isSubjectPristine", "payload": {"subject": "a"}}),
            "malformed subject",
        ),
        (json!({"type": "isSubjectPristine"}), "payload"),
        (
            json!({"type": "isSubjectOnEventId", "payload": {"subject": "/a", "eventId": "-1"}}),
            "invalid event id",
        ),
        (
            json!({"type": "isEventQlQueryTrue", "payload": {"query": "FROM e IN"}}),
            "line 1",
        ),
    ] {
        let text = refusal(&server, &under(unknown)).await;
        assert!(
            text.contains(expected) && text.contains("preconditions[0]"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_written_subject_has_at_most_a_hundred_segments() {
    let server = TestServer::start(Dialect::Event).await;
    let body = json!({"events": [candidate(&"/a".repeat(101))]});
    let (status, text) = server.answer("write-events", &body).await;
    assert_eq!(status, 400, "{text}");
    assert!(text.contains("at most 100 segments, not 101"), "{text}");
    server.fill(&[&"/a".repeat(100)]).await;
}
