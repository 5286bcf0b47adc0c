//! Bounds of reads and observations that leave no room for an event are refused.

use serde_json::{Value, json};

use super::TestServer;
use es_event::Dialect;

/// The greatest id of an event.
const MAX: &str = "9223372036854775807";

fn bound(id: &str, r#type: &str) -> Value {
    json!({"id": id, "type": r#type})
}

fn between(lower: Value, upper: Value) -> Value {
    json!({"lowerBound": lower, "upperBound": upper})
}

fn from_latest(upper: Value) -> Value {
    let latest =
        json!({"subject": "/a", "type": "io.example.test", "ifEventIsMissing": "read-nothing"});
    json!({"fromLatestEvent": latest, "upperBound": upper})
}

/// The code of version 2 for an answer with one line, which is an error.
fn code_of((status, text): &(u16, String)) -> Option<String> {
    let line: Value = serde_json::from_str(text).ok()?;
    let code = line["data"]["code"].as_str()?.rsplit('/').next()?;
    (*status == 200).then(|| code.to_owned())
}

#[tokio::test]
async fn bounds_that_leave_no_room_are_refused_by_a_read() {
    let server = TestServer::start(Dialect::Event).await;
    server.fill(&["/a", "/a", "/a"]).await;
    for options in [
        between(bound("2", "inclusive"), bound("1", "inclusive")),
        between(bound("1", "exclusive"), bound("1", "inclusive")),
        between(bound("1", "inclusive"), bound("1", "exclusive")),
        between(bound("1", "exclusive"), bound("2", "exclusive")),
        between(bound("7", "inclusive"), bound("3", "exclusive")),
        json!({"upperBound": bound("0", "exclusive")}),
        json!({"upperBound": bound("0", "exclusive"), "order": "antichronological"}),
        json!({"lowerBound": bound(MAX, "exclusive")}),
        from_latest(bound("0", "exclusive")),
    ] {
        let body = json!({"subject": "/a", "options": options});
        let (status, text) = server.answer("read-events", &body).await;
        assert_eq!(status, 400, "{body}: {text}");
        assert!(text.contains("bounds leave no room"), "{text}");
        let answer = server.v2_answer("read-events", &body).await;
        let code = code_of(&answer);
        assert_eq!(code.as_deref(), Some("range-unsatisfiable"), "{answer:?}");
    }
    let old = json!({"subject": "/a", "options": {"lowerBoundId": "2", "upperBoundId": "1"}});
    assert_eq!(server.answer("read-events", &old).await.0, 400);
}

#[tokio::test]
async fn bounds_with_room_for_one_event_are_accepted() {
    let server = TestServer::start(Dialect::Event).await;
    server.fill(&["/a", "/a", "/a"]).await;
    for (options, ids) in [
        (
            between(bound("1", "inclusive"), bound("1", "inclusive")),
            vec!["1"],
        ),
        (
            between(bound("0", "exclusive"), bound("1", "inclusive")),
            vec!["1"],
        ),
        (
            between(bound("1", "inclusive"), bound("2", "exclusive")),
            vec!["1"],
        ),
        (
            between(bound("0", "exclusive"), bound("2", "exclusive")),
            vec!["1"],
        ),
        (json!({"upperBound": bound("0", "inclusive")}), vec!["0"]),
        (json!({"lowerBound": bound(MAX, "inclusive")}), vec![]),
        (json!({"lowerBound": bound("7", "exclusive")}), vec![]),
        (from_latest(bound("2", "inclusive")), vec!["2"]),
        (from_latest(bound("3", "exclusive")), vec!["2"]),
    ] {
        let body = json!({"subject": "/a", "options": options});
        assert_eq!(server.ids(&body).await, ids, "{body}");
        let rows = server.v2_rows("read-events", "event", &body).await;
        assert_eq!(rows.len(), ids.len(), "{body}");
    }
}

#[tokio::test]
async fn a_latest_event_on_or_after_the_end_of_the_range_is_refused() {
    let server = TestServer::start(Dialect::Event).await;
    server.fill(&["/a", "/a", "/a"]).await;
    let expected =
        "state conflict: fromLatestEvent results in an event ID greater than upperBound ID\n";
    for upper in [
        bound("2", "exclusive"),
        bound("1", "inclusive"),
        bound("1", "exclusive"),
    ] {
        let body = json!({"subject": "/a", "options": from_latest(upper)});
        let answer = server.answer("read-events", &body).await;
        assert_eq!(answer, (409, expected.to_owned()), "{body}");
        let answer = server.v2_answer("read-events", &body).await;
        let code = code_of(&answer);
        assert_eq!(code.as_deref(), Some("range-unsatisfiable"), "{answer:?}");
    }
}

#[tokio::test]
async fn an_observation_that_no_event_can_follow_is_refused() {
    let server = TestServer::start(Dialect::Event).await;
    let body = json!({"subject": "/", "options": {"lowerBound": bound(MAX, "exclusive")}});
    let (status, text) = server.answer("observe-events", &body).await;
    assert_eq!(status, 400, "{text}");
    let answer = server.v2_answer("observe-events", &body).await;
    let code = code_of(&answer);
    assert_eq!(code.as_deref(), Some("range-unsatisfiable"), "{answer:?}");
}
