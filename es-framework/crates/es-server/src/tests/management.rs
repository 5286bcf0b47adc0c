//! Health, diagnostics, the description of the API, verification and backup.

use std::{collections::BTreeSet, time::Duration};

use jiff::Timestamp;
use reqwest::{Response, header};
use serde_json::{Value, json};

use super::{TOKEN, TestServer};
use crate::openapi;
use es_event::{Dialect, EventCandidate, EventId, EventTime, Hash, RecordedEvent};
use es_store::{Chain, backup::BackupLine};
use es_store_sqlite::{EmbeddedStore, Restore};

async fn get(server: &TestServer, path: &str) -> Response {
    let request = server.get(path).bearer_auth(TOKEN);
    request.send().await.unwrap()
}

async fn json_of(response: Response) -> Value {
    serde_json::from_slice(&response.bytes().await.unwrap()).unwrap()
}

#[tokio::test]
async fn health_has_a_check_of_the_store() {
    let server = TestServer::start(Dialect::Event).await;
    let response = get(&server, "/api/v1/health").await;
    assert_eq!(response.status(), 200);
    let health = json_of(response).await;
    assert_eq!(health["status"], "pass");
    assert_eq!(health["checks"]["eventStore"]["status"], "pass");
    let stranger = server.get("/api/v1/health").send().await.unwrap();
    assert_eq!(stranger.status(), 401);
}

#[tokio::test]
async fn health_is_there_as_metrics() {
    let server = TestServer::start(Dialect::Event).await;
    let response = get(&server, "/api/v1/health?format=openmetrics").await;
    let content_type = response.headers()[header::CONTENT_TYPE].to_str().unwrap();
    assert!(content_type.starts_with("application/openmetrics-text"));
    let text = response.text().await.unwrap();
    assert!(text.contains("\nevent_store_up 1\n"), "{text}");
    assert!(text.ends_with("# EOF\n"), "{text}");
    let unknown = get(&server, "/api/v1/health?format=xml").await;
    assert_eq!(unknown.status(), 400);
}

#[tokio::test]
async fn diagnostics_say_what_is_there_and_nothing_secret() {
    let server = TestServer::start(Dialect::Event).await;
    server.fill(&["/a", "/b"]).await;
    let found = json_of(get(&server, "/api/v1/diagnostics").await).await;
    assert_eq!(found["events"]["count"], 2);
    assert_eq!(found["events"]["lastId"], "1");
    assert_eq!(found["eventTypes"]["count"], 1);
    assert!(!found.to_string().contains(TOKEN));
    let stranger = server.get("/api/v1/diagnostics").send().await.unwrap();
    assert_eq!(stranger.status(), 401);
}

#[tokio::test]
async fn the_api_is_described_as_it_is() {
    let server = TestServer::start(Dialect::Event).await;
    let response = server.get("/.well-known/openapi").send().await.unwrap();
    assert_eq!(response.status(), 200);
    let document = json_of(response).await;
    assert_eq!(document["openapi"], "3.2.0");
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let url = format!("{}{path}", server.url());
            let method = method.to_uppercase().parse().unwrap();
            let answer = server.client.request(method, url).send().await.unwrap();
            let status = answer.status().as_u16();
            assert!(!matches!(status, 404 | 405), "{path}: {status}");
        }
    }
    let sources = [
        include_str!("../router.rs"),
        include_str!("../v1/mod.rs"),
        include_str!("../v2/mod.rs"),
    ];
    let routes: BTreeSet<_> = sources
        .iter()
        .flat_map(|source| source.split('"'))
        .filter(|text| text.starts_with("/api/v") || text.starts_with("/.well-known/"))
        .collect();
    let described: BTreeSet<_> = document["paths"].as_object().unwrap().keys().collect();
    assert!(routes.iter().copied().eq(described), "{routes:?}");
}

#[test]
fn every_reference_of_the_description_leads_somewhere() {
    let document: Value = serde_json::from_str(openapi::DOCUMENT).unwrap();
    for part in openapi::DOCUMENT.split("\"$ref\": \"#").skip(1) {
        let (pointer, _) = part.split_once('"').unwrap();
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
}

#[tokio::test]
async fn a_whole_store_is_verified() {
    let server = TestServer::start(Dialect::Event).await;
    let result = async || {
        let (status, text) = server.answer("verify-store", &json!({})).await;
        assert_eq!(status, 200);
        let last = text.lines().last().unwrap();
        serde_json::from_str::<Value>(last).unwrap()
    };
    let empty = json!({"type": "result", "payload": {
        "isValid": true, "events": 0, "hash": Hash::ZERO.to_string()}});
    assert_eq!(result().await, empty);
    server.fill(&["/a", "/b"]).await;
    let (_, text) = server.answer("verify-store", &json!({})).await;
    let before_last = text.lines().rev().nth(1).unwrap();
    let progress = json!({"type": "progress", "payload": {"events": 2}});
    assert_eq!(
        serde_json::from_str::<Value>(before_last).unwrap(),
        progress
    );
    let whole = result().await;
    assert_eq!(whole["payload"]["isValid"], true);
    assert_eq!(whole["payload"]["events"], 2);
    let diagnostics = json_of(get(&server, "/api/v1/diagnostics").await).await;
    assert_eq!(whole["payload"]["hash"], diagnostics["events"]["lastHash"]);
}

#[tokio::test]
async fn an_event_that_was_changed_on_disk_is_named() {
    let directory = tempfile::tempdir().unwrap();
    for (change, reason) in [
        ("data = '{\"a\":1}'", "was damaged on the disk"),
        ("checksum = NULL, subject = 'a b'", "has a broken subject"),
    ] {
        let at = directory.path().join(reason.replace(' ', "-"));
        let store = EmbeddedStore::open(&at).unwrap();
        let mut server = TestServer::with(store, |_| {}).await;
        server.fill(&["/a", "/b", "/c"]).await;
        let planned = json!({"eventType": "io.example.planned", "schema": {"type": "object", "properties": {}}});
        let registered = server.answer("register-event-schema", &planned).await;
        assert_eq!(registered.0, 200);
        server.stop().await;
        let file = rusqlite::Connection::open(at.join("events.sqlite")).unwrap();
        let statement = format!("UPDATE events SET {change} WHERE id = 1");
        file.execute_batch(&statement).unwrap();
        drop(file);
        let store = EmbeddedStore::open(&at).unwrap();
        let server = TestServer::with(store, |_| {}).await;
        let (status, text) = server.answer("verify-store", &json!({})).await;
        let result: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        let payload = &result["payload"];
        assert_eq!((status, &payload["isValid"]), (200, &json!(false)));
        assert_eq!(payload["brokenAt"]["id"], "1");
        let found = payload["brokenAt"]["reason"].as_str().unwrap();
        assert!(found.contains(reason), "{found}");
        assert_eq!(payload["events"], 1);
        // A client of a backup may look at nothing but the end of the connection.
        let response = server.send("backup", &json!({})).await;
        assert_eq!(response.status(), 200);
        let backup = response.text().await;
        assert!(backup.is_err(), "{backup:?}");
        // Reads end with an error line and do not send the event.
        let body = json!({"subject": "/", "options": {"recursive": true}});
        let (status, text) = server.answer("read-events", &body).await;
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        let found = last["payload"]["error"].as_str().unwrap();
        assert_eq!((status, &last["type"]), (200, &json!("error")));
        assert!(found.contains(reason), "{found}");
        let (status, text) = server.v2_answer("read-events", &body).await;
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!((status, &last["type"]), (200, &json!("error")), "{text}");
        let code = last["data"]["code"].as_str().unwrap();
        assert!(code.ends_with("/store-failed"), "{code}");
        let found = last["data"]["description"].as_str().unwrap();
        assert!(found.contains(reason), "{found}");
    }
}

#[tokio::test]
async fn a_backup_has_schemas_and_the_whole_chain() {
    let server = TestServer::start(Dialect::Event).await;
    server.fill(&["/a", "/b", "/a"]).await;
    let schema = json!({"type": "object", "properties": {}});
    let body = json!({"eventType": "io.example.planned", "schema": schema});
    assert_eq!(server.answer("register-event-schema", &body).await.0, 200);
    let (status, text) = server.answer("backup", &json!({})).await;
    assert_eq!(status, 200);
    let (mut chain, mut schemas) = (Chain::default(), 0);
    for line in text.lines() {
        match BackupLine::parse_line(line.as_bytes()).unwrap() {
            BackupLine::Event(event) => chain.verify_next(&event).unwrap(),
            BackupLine::Schema(event_type, _) => {
                assert_eq!(event_type.as_str(), "io.example.planned");
                schemas += 1;
            }
            BackupLine::Error(error) => panic!("{error}"),
            BackupLine::End(mark) => {
                assert_eq!((mark.events, mark.hash), (chain.events(), chain.hash()));
                assert_eq!(mark.schemas, 1);
            }
        }
    }
    assert_eq!((chain.events(), schemas), (3, 1));
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[4].starts_with(r#"{"type":"end","#), "{text}");
    let event: Value = serde_json::from_str(lines[3]).unwrap();
    assert_eq!(event["type"], "event");
    assert!(event["payload"]["event"]["id"].is_string());
    assert!(event["payload"]["hash"].is_string());
}

#[tokio::test]
async fn events_ahead_of_the_clock_are_visible_in_health() {
    let directory = tempfile::tempdir().unwrap();
    let mut restore = Restore::begin(directory.path()).unwrap();
    let candidate = EventCandidate {
        source: "tag:test".into(),
        subject: "/a".parse().unwrap(),
        event_type: "io.example.test".parse().unwrap(),
        data: serde_json::value::to_raw_value(&json!({})).unwrap(),
        trace: None,
    };
    // Written while the clock was a day ahead.
    let day = Duration::from_secs(24 * 3_600);
    let time = EventTime::from_timestamp(Timestamp::now() + day);
    let event = RecordedEvent::record(candidate, EventId::FIRST, time.clone(), Hash::ZERO);
    restore
        .add_line(BackupLine::Event(Box::new(event)))
        .unwrap();
    restore.accept_missing_end().finish().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let server = TestServer::with(store, |_| {}).await;
    let health = server.get("/api/v1/health").bearer_auth(TOKEN);
    let response = health.send().await.unwrap();
    assert_eq!(response.status(), 200);
    let health: Value = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
    assert_eq!(health["status"], "pass");
    let check = &health["checks"]["eventTimes"];
    assert_eq!(check["status"], "warn");
    let ahead = check["secondsAhead"].as_u64().unwrap();
    assert!((24 * 3_600 - 60..=24 * 3_600).contains(&ahead), "{ahead}");
    server.fill(&["/a"]).await;
    let (_, text) = server
        .answer("read-events", &json!({"subject": "/a"}))
        .await;
    assert_eq!(text.matches(time.as_str()).count(), 2, "{text}");
}
