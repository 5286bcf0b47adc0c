//! The responses of a server whose store fails.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use reqwest::header;
use serde_json::{Value, json};

use super::{TestServer, candidate};
use es_event::{EventCandidate, EventId, EventTime, Hash, RecordedEvent, Subject};
use es_store::{
    AppendError, EventLog, EventStream, ObserveOptions, Precondition, ReadOptions, StoreCatalog,
    StoreError,
};

/// Never completes a write to `/slow` or a read of `/hanging`, fails all other writes, and breaks each stream after one event.
#[derive(Debug)]
struct FailingStore;

fn unavailable() -> StoreError {
    StoreError::Unavailable {
        address: "in this test".into(),
        reason: "the disk is gone".into(),
    }
}

fn one_event_and_an_error(subject: &Subject) -> EventStream {
    let candidate = EventCandidate {
        source: "tag:test".into(),
        subject: subject.clone(),
        event_type: "io.example.test".parse().unwrap(),
        data: serde_json::value::RawValue::from_string("{}".into()).unwrap(),
        trace: None,
    };
    let event = RecordedEvent::record(candidate, EventId::FIRST, EventTime::now(), Hash::ZERO);
    stream::iter([Ok(event), Err(unavailable())]).boxed()
}

#[async_trait]
impl EventLog for FailingStore {
    async fn append(
        &self,
        candidates: Vec<EventCandidate>,
        _: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        match candidates[0].subject.as_str() {
            "/slow" => std::future::pending().await,
            "/full" => Err(StoreError::Full("the disk is full".into()).into()),
            "/unknown" => Err(AppendError::Unknown {
                address: "in this test".into(),
                reason: "the connection broke".into(),
            }),
            _ => Err(unavailable().into()),
        }
    }

    fn read(&self, subject: Subject, _: ReadOptions) -> EventStream {
        if subject.as_str() == "/hanging" {
            return stream::pending().boxed();
        }
        one_event_and_an_error(&subject)
    }

    fn observe(&self, subject: Subject, _: ObserveOptions) -> EventStream {
        one_event_and_an_error(&subject)
    }
}

#[async_trait]
impl StoreCatalog for FailingStore {
    async fn health(&self) -> Result<(), StoreError> {
        Err(unavailable())
    }

    fn description(&self) -> String {
        "broken".into()
    }
}

async fn server() -> TestServer {
    TestServer::with(FailingStore, |settings| {
        settings.request_time = Duration::from_millis(500);
    })
    .await
}

#[tokio::test]
async fn a_write_that_fails_has_the_status_of_its_reason() {
    let server = server().await;
    let write = async |subject| {
        let body = json!({"events": [candidate(subject)]});
        server.answer("write-events", &body).await
    };
    let full = (507, "insufficient storage\n".to_owned());
    assert_eq!(write("/full").await, full);
    for subject in ["/slow", "/unknown"] {
        let (status, text) = write(subject).await;
        assert_eq!(status, 500);
        assert!(text.contains("unknown whether"), "{text}");
    }
    let body = json!({"events": [candidate("/a")]});
    let response = server.send("write-events", &body).await;
    assert_eq!(response.status(), 503);
    assert_eq!(response.headers()[header::RETRY_AFTER], "1");
    assert!(response.text().await.unwrap().contains("the disk is gone"));
}

#[tokio::test]
async fn a_precondition_that_cannot_be_checked_is_no_unknown_outcome() {
    let server = server().await;
    for (subject, reason) in [("/hanging", "take too long"), ("/a", "the disk is gone")] {
        let query =
            format!("FROM e IN events WHERE e.subject == '{subject}' PROJECT INTO COUNT() == 0");
        let precondition = json!({"type": "isEventQlQueryTrue", "payload": {"query": query}});
        let body = json!({"events": [candidate("/b")], "preconditions": [precondition]});
        let answers = [
            server.send("write-events", &body).await,
            server
                .v2("data/write-events")
                .body(body.to_string())
                .send()
                .await
                .unwrap(),
        ];
        for answer in answers {
            assert_eq!(answer.status(), 503, "{subject}");
            assert_eq!(answer.headers()[header::RETRY_AFTER], "1");
            let text = answer.text().await.unwrap();
            assert!(text.contains(reason), "{text}");
        }
    }
}

#[tokio::test]
async fn a_single_subject_is_found_without_a_listing() {
    let server = server().await;
    // This store lists no subjects.
    let body = json!({"subject": "/a", "options": {"recursive": false}});
    let rows = server.v2_rows("read-subjects", "subject", &body).await;
    assert_eq!(rows, [json!({"subject": "/a"})]);
}

#[tokio::test]
async fn a_stream_that_breaks_off_says_so_in_its_last_line() {
    let server = server().await;
    for route in ["read-events", "observe-events"] {
        let (status, text) = server.answer(route, &json!({"subject": "/a"})).await;
        assert_eq!(status, 200);
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(
            (&lines[0]["type"], &lines[1]["type"]),
            (&json!("item"), &json!("error"))
        );
        let error = lines[1]["payload"]["error"].as_str().unwrap();
        assert!(
            error.contains("the disk is gone") && text.ends_with('\n'),
            "{error}"
        );
    }
}

#[tokio::test]
async fn one_query_too_many_is_told_to_come_back() {
    let server = TestServer::with(FailingStore, |settings| {
        settings.queries_limit = 1;
        settings.heartbeat = Duration::from_millis(20);
    })
    .await;
    let query = "FROM e IN events WHERE e.subject == '/hanging' PROJECT INTO e";
    let running = server
        .send("run-eventql-query", &json!({ "query": query }))
        .await;
    assert_eq!(running.status(), 200);
    let precondition = json!({"type": "isEventQlQueryTrue", "payload": { "query": query }});
    for (route, body) in [
        ("run-eventql-query", json!({ "query": query })),
        (
            "write-events",
            json!({"events": [candidate("/a")], "preconditions": [precondition]}),
        ),
    ] {
        let refused = server.send(route, &body).await;
        assert_eq!(refused.status(), 503);
        assert_eq!(refused.headers()[header::RETRY_AFTER], "1");
        let text = refused.text().await.unwrap();
        assert_eq!(text, "there are 1 queries already: try again later\n");
    }
    // A client that leaves makes room for the next one.
    drop(running);
    let next = server
        .send("run-eventql-query", &json!({ "query": query }))
        .await;
    assert_eq!(next.status(), 200);
}

#[tokio::test]
async fn health_says_what_is_broken() {
    let server = server().await;
    let request = server.get("/api/v1/health").bearer_auth(super::TOKEN);
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 503);
    let health: Value = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
    assert_eq!(health["status"], "fail");
    let output = health["checks"]["eventStore"]["output"].as_str().unwrap();
    assert!(output.contains("the disk is gone"), "{output}");
}

#[tokio::test]
async fn what_a_store_does_not_support_is_said() {
    let server = server().await;
    let (status, text) = server
        .answer("read-event-type", &json!({"eventType": "io.example.a"}))
        .await;
    assert_eq!(status, 400);
    assert!(text.contains("not supported"), "{text}");
    for route in ["read-event-types", "verify-store"] {
        let (status, text) = server.answer(route, &json!({})).await;
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!((status, &last["type"]), (200, &json!("error")), "{route}");
    }
}

#[tokio::test]
async fn a_backup_that_fails_at_once_has_the_status_of_its_reason() {
    let server = server().await;
    let (status, text) = server.answer("backup", &json!({})).await;
    assert_eq!(status, 400, "{text}");
    assert!(text.contains("not supported"), "{text}");
}
