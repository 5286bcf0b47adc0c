//! Reading events.

use reqwest::header;
use serde_json::{Value, json};

use super::{TestServer, candidate};
use es_event::Dialect;

fn all(options: Value) -> Value {
    let mut body = json!({"subject": "/", "options": options});
    body["options"]["recursive"] = json!(true);
    body
}

#[tokio::test]
async fn a_read_is_lines_that_each_end_and_nothing_else() {
    for dialect in [Dialect::Item, Dialect::Event] {
        let server = TestServer::start(dialect).await;
        let response = server.send("read-events", &json!({"subject": "/"})).await;
        assert_eq!(
            response.headers()[header::CONTENT_TYPE],
            "application/x-ndjson"
        );
        assert_eq!(response.text().await.unwrap(), "", "no heartbeats here");
        server.fill(&["/a", "/b", "/a"]).await;
        let (_, text) = server.answer("read-events", &all(json!({}))).await;
        assert_eq!((text.lines().count(), text.ends_with("}\n")), (3, true));
    }
}

#[tokio::test]
async fn a_long_read_is_complete_and_in_order() {
    let server = TestServer::start(Dialect::Item).await;
    let mut event = candidate("/a");
    event["data"] = json!({"text": "x".repeat(500)});
    let body = json!({"events": vec![event; 1_000]});
    for _ in 0..3 {
        assert_eq!(server.answer("write-events", &body).await.0, 200);
    }
    let expected: Vec<_> = (0..3_000).map(|id: u32| id.to_string()).collect();
    assert_eq!(server.ids(&json!({"subject": "/a"})).await, expected);
}

#[tokio::test]
async fn options_may_be_left_out_or_null() {
    let server = TestServer::start(Dialect::Item).await;
    server.fill(&["/a", "/a/b"]).await;
    for body in [
        json!({"subject": "/a"}),
        json!({"subject": "/a", "options": null}),
        json!({"subject": "/a", "options": {}}),
        json!({"subject": "/a", "options": {"recursive": false, "order": "chronological", "lowerBound": null}}),
    ] {
        assert_eq!(server.ids(&body).await, ["0"], "{body}");
    }
    assert_eq!(server.ids(&all(json!({}))).await, ["0", "1"]);
    assert!(server.ids(&json!({"subject": "/nothing"})).await.is_empty());
}

#[tokio::test]
async fn bounds_are_taken_in_the_spelling_of_both_generations() {
    let server = TestServer::start(Dialect::Item).await;
    server.fill(&["/a", "/b", "/c", "/d"]).await;
    let cases = [
        (
            json!({"lowerBound": {"id": "1", "type": "inclusive"}}),
            vec!["1", "2", "3"],
        ),
        (
            json!({"lowerBound": {"id": "1", "type": "exclusive"}}),
            vec!["2", "3"],
        ),
        (
            json!({"upperBound": {"id": "1", "type": "inclusive"}}),
            vec!["0", "1"],
        ),
        (
            json!({"upperBound": {"id": "1", "type": "exclusive"}}),
            vec!["0"],
        ),
        (json!({"lowerBoundId": "1"}), vec!["1", "2", "3"]),
        (json!({"upperBoundId": "1"}), vec!["0", "1"]),
        (
            json!({"lowerBoundId": "1", "upperBoundId": "2"}),
            vec!["1", "2"],
        ),
        (
            json!({"lowerBoundId": "2", "order": "antichronological"}),
            vec!["3", "2"],
        ),
    ];
    for (options, expected) in cases {
        assert_eq!(
            server.ids(&all(options.clone())).await,
            expected,
            "{options}"
        );
    }
}

#[tokio::test]
async fn a_read_starts_from_the_latest_event_of_a_type() {
    let server = TestServer::start(Dialect::Item).await;
    server.fill(&["/a", "/b", "/a", "/b"]).await;
    let from = |r#type: &str, if_missing: &str| json!({"fromLatestEvent": {"subject": "/a", "type": r#type, "ifEventIsMissing": if_missing}});
    let existing = all(from("io.example.test", "read-nothing"));
    assert_eq!(server.ids(&existing).await, ["2", "3"]);
    let missing = |if_missing| all(from("io.example.missing", if_missing));
    assert!(server.ids(&missing("read-nothing")).await.is_empty());
    assert_eq!(server.ids(&missing("read-everything")).await.len(), 4);
    for (upper, status) in [("1", 409), ("2", 200), ("3", 200)] {
        let mut options = from("io.example.test", "read-nothing");
        options["upperBound"] = json!({"id": upper, "type": "inclusive"});
        let (answered, text) = server.answer("read-events", &all(options)).await;
        assert_eq!(answered, status, "{text}");
        let conflict =
            "state conflict: fromLatestEvent results in an event ID greater than upperBound ID\n";
        assert_eq!(status == 409, text == conflict, "{text}");
    }
}

#[tokio::test]
async fn options_that_make_no_sense_are_refused() {
    let server = TestServer::start(Dialect::Item).await;
    let bound = |id: Value| json!({"lowerBound": {"id": id, "type": "inclusive"}});
    let from = |subject: &str, r#type: &str, if_missing: &str| json!({"fromLatestEvent": {"subject": subject, "type": r#type, "ifEventIsMissing": if_missing}});
    let mut both = from("/a", "io.example.test", "read-nothing");
    both["lowerBoundId"] = json!("1");
    for (options, expected) in [
        (
            bound(json!("hello")),
            "options.lowerBound.id: invalid event id \"hello\"",
        ),
        (bound(json!("-1")), "invalid event id"),
        (bound(json!("")), "invalid event id"),
        (bound(json!(1)), "options.lowerBound.id"),
        (json!({"upperBoundId": "x"}), "options.upperBoundId"),
        (
            json!({"lowerBound": {"id": "1", "type": "open"}}),
            "inclusive",
        ),
        (json!({"lowerBound": {"id": "1"}}), "missing field `type`"),
        (json!({"order": "sideways"}), "antichronological"),
        (json!({"recursive": "yes"}), "options.recursive"),
        (json!({"recursve": true}), "unknown field `recursve`"),
        (
            from("", "io.example.test", "read-nothing"),
            "malformed subject",
        ),
        (from("/a", "", "read-nothing"), "invalid event type"),
        (
            from("/a", "io.example.test", "wait-for-event"),
            "read-nothing",
        ),
        (both, "lowerBound and fromLatestEvent"),
        (
            json!({"lowerBoundId": "1", "lowerBound": {"id": "1", "type": "inclusive"}}),
            "lowerBound and lowerBoundId",
        ),
    ] {
        let body = json!({"subject": "/", "options": options});
        let (status, text) = server.answer("read-events", &body).await;
        assert_eq!(status, 400, "{body}: {text}");
        assert!(text.contains(expected) && text.ends_with('\n'), "{text}");
    }
    for body in [
        json!({}),
        json!({"subject": "a"}),
        json!({"subject": ["/"]}),
    ] {
        assert_eq!(server.answer("read-events", &body).await.0, 400, "{body}");
    }
}
