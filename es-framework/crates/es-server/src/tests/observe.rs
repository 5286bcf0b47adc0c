//! Observing events.

use std::time::{Duration, Instant};

use reqwest::Response;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{LIMIT, TestServer, candidate, id_of};
use crate::server_settings::ServerSettings;
use es_event::Dialect;
use es_store::{EventStore, memory::MemoryStore};
use es_store_sqlite::EmbeddedStore;

const HEARTBEAT: &str = r#"{"type":"heartbeat","payload":{}}"#;

/// The lines of a response without an end.
struct Observer {
    response: Response,
    rest: String,
}

impl Observer {
    async fn start(server: &TestServer, body: &Value) -> Self {
        let response = server.send("observe-events", body).await;
        assert_eq!(response.status(), 200);
        let rest = String::new();
        Self { response, rest }
    }

    /// Returns the next line, or `None` at the end.
    async fn line(&mut self) -> Option<String> {
        loop {
            if let Some((line, rest)) = self.rest.split_once('\n') {
                let line = line.to_owned();
                self.rest = rest.to_owned();
                return Some(line);
            }
            let chunk = timeout(LIMIT, self.response.chunk()).await.unwrap();
            match chunk.unwrap() {
                Some(chunk) => self.rest.push_str(std::str::from_utf8(&chunk).unwrap()),
                None => return None,
            }
        }
    }

    /// Returns the id of the next event and skips heartbeats before it.
    async fn id(&mut self) -> String {
        loop {
            let line = self.line().await.unwrap();
            if line != HEARTBEAT {
                return id_of(&line);
            }
        }
    }
}

async fn with_heartbeats_every(milliseconds: u64) -> TestServer {
    over(MemoryStore::new(), milliseconds).await
}

async fn over(store: impl EventStore, milliseconds: u64) -> TestServer {
    TestServer::with(store, |settings| {
        settings.dialect = Dialect::Event;
        settings.heartbeat = Duration::from_millis(milliseconds);
    })
    .await
}

#[tokio::test]
async fn an_observer_gets_its_headers_before_any_event() {
    let server = with_heartbeats_every(10_000).await;
    let begun = Instant::now();
    let body = json!({"subject": "/a"});
    let mut observer = Observer::start(&server, &body).await;
    assert!(begun.elapsed() < Duration::from_secs(5));
    server.fill(&["/a"]).await;
    assert_eq!(observer.id().await, "0");
}

#[tokio::test]
async fn an_idle_observer_gets_a_sign_of_life_every_second() {
    let server = TestServer::start(Dialect::Item).await;
    let begun = Instant::now();
    let mut observer = Observer::start(&server, &json!({"subject": "/"})).await;
    for _ in 0..2 {
        assert_eq!(observer.line().await.as_deref(), Some(HEARTBEAT));
    }
    let passed = begun.elapsed();
    assert!(passed > Duration::from_millis(1_900), "{passed:?}");
    assert!(passed < LIMIT, "{passed:?}");
}

#[tokio::test]
async fn stored_events_come_first_and_new_ones_after_them() {
    stored_come_first(with_heartbeats_every(20).await).await;
    let directory = tempfile::tempdir().unwrap();
    // The embedded store writes stored events as lines and does not decode them.
    let store = EmbeddedStore::open(directory.path()).unwrap();
    stored_come_first(over(store, 20).await).await;
}

async fn stored_come_first(server: TestServer) {
    server.fill(&["/a", "/b", "/a"]).await;
    let body = json!({"subject": "/", "options": {"recursive": true}});
    let mut all = Observer::start(&server, &body).await;
    let mut one = Observer::start(&server, &json!({"subject": "/a"})).await;
    let after = json!({"subject": "/", "options": {"recursive": true, "lowerBound": {"id": "1", "type": "exclusive"}}});
    let mut after = Observer::start(&server, &after).await;
    // A slow machine sends a heartbeat before the first event.
    assert_eq!(all.id().await, "0");
    assert_eq!([all.id().await, all.id().await], ["1", "2"]);
    assert_eq!([one.id().await, one.id().await], ["0", "2"]);
    assert_eq!(after.id().await, "2");
    assert_eq!(all.line().await.as_deref(), Some(HEARTBEAT));
    server.fill(&["/c", "/a"]).await;
    assert_eq!([all.id().await, all.id().await], ["3", "4"]);
    assert_eq!(one.id().await, "4");
    assert_eq!([after.id().await, after.id().await], ["3", "4"]);
}

#[tokio::test]
async fn a_long_observation_misses_nothing_where_stored_events_end() {
    let directory = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let server = over(store, 10_000).await;
    let write = json!({"events": vec![candidate("/a"); 1_000]});
    for _ in 0..2 {
        assert_eq!(server.send("write-events", &write).await.status(), 200);
    }
    let mut observer = Observer::start(&server, &json!({"subject": "/a"})).await;
    let mut ids = vec![observer.id().await];
    assert_eq!(server.send("write-events", &write).await.status(), 200);
    while ids.len() < 3_000 {
        ids.push(observer.id().await);
    }
    let expected: Vec<_> = (0..3_000).map(|id: u32| id.to_string()).collect();
    assert_eq!(ids, expected);
}

#[tokio::test]
async fn a_stored_event_that_is_broken_ends_its_observation() {
    let directory = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let mut server = over(store, 10_000).await;
    server.fill(&["/a", "/a", "/a"]).await;
    server.stop().await;
    let file = rusqlite::Connection::open(directory.path().join("events.sqlite")).unwrap();
    let change = "UPDATE events SET subject = 'a b' WHERE id = 1";
    assert_eq!(file.execute(change, []).unwrap(), 1);
    drop(file);
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let server = over(store, 10_000).await;
    let body = json!({"subject": "/", "options": {"recursive": true}});
    let mut observer = Observer::start(&server, &body).await;
    let last: Value = serde_json::from_str(&observer.line().await.unwrap()).unwrap();
    assert_eq!(last["type"], "error", "{last}");
    let error = last["payload"]["error"].as_str().unwrap();
    assert!(error.contains("event 1"), "{error}");
    assert_eq!(observer.line().await, None);
}

#[tokio::test]
async fn an_observer_can_wait_for_the_event_to_start_from() {
    let server = with_heartbeats_every(20).await;
    server.fill(&["/a"]).await;
    let body = json!({"subject": "/", "options": {"recursive": true, "fromLatestEvent":
        {"subject": "/b", "type": "io.example.test", "ifEventIsMissing": "wait-for-event"}}});
    let mut observer = Observer::start(&server, &body).await;
    assert_eq!(observer.line().await.as_deref(), Some(HEARTBEAT));
    server.fill(&["/a", "/b", "/a"]).await;
    assert_eq!([observer.id().await, observer.id().await], ["2", "3"]);
}

#[tokio::test]
async fn options_of_reading_alone_are_refused() {
    let server = TestServer::start(Dialect::Item).await;
    for options in [
        json!({"order": "chronological"}),
        json!({"upperBoundId": "1"}),
        json!({"fromLatestEvent": {"subject": "/a", "type": "io.example.test", "ifEventIsMissing": "read-nothing"}}),
    ] {
        let body = json!({"subject": "/", "options": options});
        assert_eq!(
            server.answer("observe-events", &body).await.0,
            400,
            "{body}"
        );
    }
}

#[tokio::test]
async fn a_shutdown_closes_an_observation_without_an_error_line() {
    let mut server = with_heartbeats_every(10_000).await;
    server.fill(&["/a"]).await;
    let mut observer = Observer::start(&server, &json!({"subject": "/a"})).await;
    assert_eq!(observer.id().await, "0");
    let begun = Instant::now();
    server.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(5));
    let end = timeout(LIMIT, observer.response.chunk()).await.unwrap();
    assert!(end.is_err(), "{end:?}");
}

#[tokio::test]
async fn a_shutdown_also_closes_an_observation_that_still_sends_stored_events() {
    let directory = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let mut server = over(store, 10_000).await;
    let mut large = candidate("/a");
    large["data"] = json!({"text": "x".repeat(500_000)});
    for _ in 0..40 {
        let write = json!({"events": [large]});
        assert_eq!(server.send("write-events", &write).await.status(), 200);
    }
    let mut observer = Observer::start(&server, &json!({"subject": "/a"})).await;
    assert_eq!(observer.id().await, "0");
    server.stop().await;
    let end = loop {
        match timeout(LIMIT, observer.response.chunk()).await.unwrap() {
            Ok(Some(chunk)) => observer.rest.push_str(std::str::from_utf8(&chunk).unwrap()),
            end => break end,
        }
    };
    assert!(end.is_err(), "{end:?}");
    assert!(!observer.rest.contains(r#""type":"error""#));
}

#[tokio::test]
async fn observers_beyond_the_limit_are_told_to_come_back() {
    let limit = |settings: &mut ServerSettings| settings.observers_limit = 2;
    let server = TestServer::with(MemoryStore::new(), limit).await;
    let body = json!({"subject": "/", "options": {"recursive": true}});
    let [first, _second] = [
        Observer::start(&server, &body).await,
        Observer::start(&server, &body).await,
    ];
    let third = server.send("observe-events", &body).await;
    assert_eq!(third.status(), 503);
    assert!(third.headers().contains_key("retry-after"));
    assert!(third.text().await.unwrap().contains("2 observers"));
    server.fill(&["/a"]).await;
    drop(first);
    let is_free = async {
        while server.send("observe-events", &body).await.status() != 200 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LIMIT, is_free).await.unwrap();
}
