//! Version 2: its routes, envelopes and streams.

use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::{Method, RequestBuilder, Response, header};
use serde_json::{Value, json};

use super::{TOKEN, TestServer, candidate};
use es_event::{Dialect, HashVersion};
use es_store::memory::MemoryStore;

const END: &str = "{\"type\":\"end\",\"data\":{}}\n";

impl TestServer {
    /// Starts a request of version 2 with the token.
    pub(super) fn v2(&self, route: &str) -> RequestBuilder {
        let method = match route {
            "data/write-events" | "data/register-event-schema" | "system/verify-token" => {
                Method::POST
            }
            "system/ping" => Method::GET,
            _ => Method::from_bytes(b"QUERY").unwrap(),
        };
        let url = format!("{}/api/v2/{route}", self.url());
        self.client.request(method, url).bearer_auth(TOKEN)
    }

    /// The status and text of an answer of version 2.
    pub(super) async fn v2_answer(&self, route: &str, body: &Value) -> (u16, String) {
        let request = self.v2(&format!("data/{route}")).body(body.to_string());
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    /// The data of the lines of a complete stream, without heartbeats and the end.
    pub(super) async fn v2_rows(&self, route: &str, kind: &str, body: &Value) -> Vec<Value> {
        let (status, text) = self.v2_answer(route, body).await;
        assert_eq!(status, 200, "{text}");
        let lines = text.strip_suffix(END).expect(&text);
        let lines = lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|line| line["type"] != "heartbeat");
        let data = |line: Value| {
            assert_eq!(line["type"], kind, "{line}");
            line["data"].clone()
        };
        lines.map(data).collect()
    }

    async fn v2_write(&self, subjects: &[&str]) -> Vec<Value> {
        let events: Vec<_> = subjects.iter().map(|subject| candidate(subject)).collect();
        let body = json!({"events": events});
        self.v2_rows("write-events", "event", &body).await
    }
}

async fn json_of(response: Response) -> Value {
    assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
    serde_json::from_slice(&response.bytes().await.unwrap()).unwrap()
}

#[tokio::test]
async fn a_ping_offers_version_2_without_a_token() {
    for dialect in [Dialect::Item, Dialect::Event] {
        let server = TestServer::start(dialect).await;
        let response = server.get("/api/v2/system/ping").send().await.unwrap();
        let name = response.headers()[header::SERVER].to_str().unwrap();
        assert!(name.starts_with("EventSourcingDB/"), "{name}");
        let envelope = json_of(response).await;
        assert_eq!(envelope["type"], "event");
        let event = &envelope["data"];
        assert_eq!(event["type"], "io.eventsourcingdb.api.ping-received");
        assert_eq!(event["subject"], "/api/v2/system/ping");
        assert_eq!(event.as_object().unwrap().len(), 8, "{event}");
    }
}

#[tokio::test]
async fn a_token_is_verified() {
    let server = TestServer::start(Dialect::Item).await;
    let response = server.v2("system/verify-token").send().await.unwrap();
    let envelope = json_of(response).await;
    assert_eq!(
        envelope["data"]["type"],
        "io.eventsourcingdb.api.token-verified"
    );
    assert_eq!(envelope["data"]["subject"], "/api/v2/system/verify-token");
}

#[tokio::test]
async fn no_route_but_the_ping_answers_without_the_token() {
    let server = TestServer::start(Dialect::Item).await;
    for route in [
        "system/verify-token",
        "data/write-events",
        "data/register-event-schema",
        "data/read-event-type",
        "data/read-event-types",
        "data/read-events",
        "data/observe-events",
        "data/run-eventql-query",
        "data/read-subjects",
    ] {
        let request = server.v2(route).build().unwrap();
        let (method, url) = (request.method().clone(), request.url().clone());
        let stranger = server.client.request(method, url.clone());
        let response = stranger.body("{}").send().await.unwrap();
        assert_eq!(response.status(), 401, "{route}");
        let name = response.headers()[header::SERVER].to_str().unwrap();
        assert!(name.starts_with("EventSourcingDB/"), "{name}");
        assert!(response.text().await.unwrap().ends_with('\n'));
        let wrong = server.client.delete(url).bearer_auth(TOKEN).send().await;
        assert_eq!(wrong.unwrap().status(), 405, "{route}");
    }
    let post = server
        .client
        .post(format!("{}/api/v2/data/read-events", server.url()));
    let response = post.bearer_auth(TOKEN).body("{}").send().await.unwrap();
    assert_eq!(response.status(), 405, "reads have the method QUERY");
    assert_eq!(response.headers()[header::ALLOW], "QUERY");
}

#[tokio::test]
async fn a_write_answers_with_whole_events_and_an_end() {
    for dialect in [Dialect::Item, Dialect::Event] {
        let server = TestServer::start(dialect).await;
        let body = json!({"events": [candidate("/a"), candidate("/b")]});
        let (status, text) = server.v2_answer("write-events", &body).await;
        assert_eq!(status, 200, "{text}");
        let start = r#"{"type":"event","data":{"source":"tag:test","subject":"/a","type":"io.example.test","traceparent":null,"tracestate":null,"specversion":"1.0","id":"0","#;
        assert!(text.starts_with(start), "{text}");
        assert!(text.contains(r#""data":{},"hash":""#), "{text}");
        let all = json!({"subject": "/", "options": {"recursive": true}});
        assert_eq!(server.v2_answer("read-events", &all).await, (200, text));
        let end = json!({"subject": "/c"});
        let nothing = server.v2_answer("read-events", &end).await;
        assert_eq!(nothing, (200, END.to_owned()));
    }
}

#[tokio::test]
async fn a_long_read_is_complete() {
    let store = es_store_sqlite::EmbeddedStore::temporary().unwrap();
    let server = TestServer::with(store, |_| {}).await;
    let mut event = candidate("/a");
    event["data"] = json!({"text": "x".repeat(500)});
    let body = json!({"events": vec![event; 1_000]});
    for _ in 0..3 {
        server.v2_rows("write-events", "event", &body).await;
    }
    let read = server
        .v2_rows("read-events", "event", &json!({"subject": "/a"}))
        .await;
    let ids = read
        .iter()
        .map(|event| event["id"].as_str().unwrap().to_owned());
    assert!(ids.eq((0..3_000).map(|id: u32| id.to_string())));
}

#[tokio::test]
async fn hashes_of_version_2_are_sent_by_both_versions_of_the_api() {
    let store = MemoryStore::new().with_hash_version(HashVersion::V2);
    let server = TestServer::with(store, |settings| settings.dialect = Dialect::Event).await;
    let written = server.v2_write(&["/a", "/b"]).await;
    assert!(
        written[0]["hash"]
            .as_str()
            .unwrap()
            .starts_with("esdb:hash:v2:")
    );
    assert_eq!(written[1]["predecessorhash"], written[0]["hash"]);
    let (_, text) = server
        .answer("read-events", &json!({"subject": "/b"}))
        .await;
    let line: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(line["payload"]["hash"], written[1]["hash"]);
}

#[tokio::test]
async fn reads_take_all_options() {
    let server = TestServer::start(Dialect::Item).await;
    server.v2_write(&["/a", "/a/b", "/c", "/a"]).await;
    let from =
        json!({"subject": "/c", "type": "io.example.test", "ifEventIsMissing": "read-nothing"});
    for (options, expected) in [
        (json!({}), &["0", "3"][..]),
        (json!({"recursive": true}), &["0", "1", "3"]),
        (
            json!({"recursive": true, "order": "antichronological"}),
            &["3", "1", "0"],
        ),
        (
            json!({"recursive": true, "lowerBound": {"id": "0", "type": "exclusive"},
                   "upperBound": {"id": "1", "type": "inclusive"}}),
            &["1"],
        ),
        (json!({"recursive": false, "fromLatestEvent": from}), &["3"]),
    ] {
        let body = json!({"subject": "/a", "options": options});
        let events = server.v2_rows("read-events", "event", &body).await;
        let ids: Vec<_> = events
            .iter()
            .map(|event| event["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids, expected, "{body}");
    }
}

#[tokio::test]
async fn subjects_are_listed_alone_or_with_those_below() {
    let server = TestServer::start(Dialect::Item).await;
    server.v2_write(&["/a/b", "/c"]).await;
    let subjects = async |subject: &str, recursive: bool| {
        let body = json!({"subject": subject, "options": {"recursive": recursive}});
        let rows = server.v2_rows("read-subjects", "subject", &body).await;
        let subjects = rows
            .iter()
            .map(|row| row["subject"].as_str().unwrap().to_owned());
        subjects.collect::<Vec<_>>()
    };
    assert_eq!(subjects("/", true).await, ["/", "/a", "/a/b", "/c"]);
    for subject in ["/a", "/a/"] {
        assert_eq!(subjects(subject, false).await, ["/a"]);
    }
    assert_eq!(subjects("/", false).await, ["/"]);
    assert!(subjects("/b", false).await.is_empty());
    assert!(subjects("/b", true).await.is_empty());
}

#[tokio::test]
async fn event_types_have_their_schemas() {
    let server = TestServer::start(Dialect::Item).await;
    server.v2_write(&["/a"]).await;
    let schema = json!({"type": "object", "properties": {}});
    let body = json!({"type": "io.example.planned", "schema": schema});
    let registered = server
        .v2_rows("register-event-schema", "event", &body)
        .await;
    assert_eq!(registered.len(), 1);
    assert_eq!(
        registered[0]["subject"],
        "/api/v2/data/register-event-schema"
    );
    let kind = "io.eventsourcingdb.api.event-schema-registered";
    assert_eq!(registered[0]["type"], kind);
    let planned = json!({"type": "io.example.planned", "hasEvents": false, "schema": schema});
    let test = json!({"type": "io.example.test", "hasEvents": true, "schema": null});
    let types = server.v2("data/read-event-types").send().await.unwrap();
    let text = types.text().await.unwrap();
    let expected = [&planned, &test].map(|data| json!({"type": "eventType", "data": data}));
    let lines = text.strip_suffix(END).unwrap().lines();
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    assert!(lines.eq(expected), "{text}");
    let request = server.v2("data/read-event-type");
    let response = request
        .body(r#"{"type":"io.example.planned"}"#)
        .send()
        .await;
    let envelope = json_of(response.unwrap()).await;
    assert_eq!(envelope, json!({"type": "eventType", "data": planned}));
}

#[tokio::test]
async fn a_query_wraps_its_rows() {
    let server = TestServer::start(Dialect::Item).await;
    server.v2_write(&["/a", "/b"]).await;
    let body = json!({"query": "FROM e IN events PROJECT INTO COUNT()"});
    let rows = server.v2_rows("run-eventql-query", "row", &body).await;
    assert_eq!(rows, [json!({"value": 2})]);
    let request = server.v2("data/run-eventql-query");
    let body = json!({"query": "FROM e IN events TOP 1 PROJECT INTO { b: 1, a: 2 }"});
    let response = request.body(body.to_string()).send().await.unwrap();
    let text = response.text().await.unwrap();
    assert!(text.contains(r#""data":{"value":{"b":1,"a":2}}"#), "{text}");
}

#[tokio::test]
async fn an_observation_has_heartbeats_and_ends_with_the_error_of_a_shutdown() {
    let store = es_store_sqlite::EmbeddedStore::temporary().unwrap();
    let heartbeat = Duration::from_millis(50);
    let mut server = TestServer::with(store, |settings| settings.heartbeat = heartbeat).await;
    server.v2_write(&["/a", "/b"]).await;
    let body = json!({"subject": "/", "options": {"recursive": true}});
    let request = server.v2("data/observe-events").body(body.to_string());
    let mut chunks = request.send().await.unwrap().bytes_stream();
    let mut seen = String::new();
    while !seen.contains(r#"{"type":"heartbeat","data":{}}"#) {
        seen += std::str::from_utf8(&chunks.next().await.unwrap().unwrap()).unwrap();
    }
    assert_eq!(
        seen.matches(r#"{"type":"event","data""#).count(),
        2,
        "{seen}"
    );
    server.v2_write(&["/c"]).await;
    server.stop().await;
    while let Some(chunk) = chunks.next().await {
        seen += std::str::from_utf8(&chunk.unwrap()).unwrap();
    }
    assert_eq!(
        seen.matches(r#"{"type":"event","data""#).count(),
        3,
        "{seen}"
    );
    let last: Value = serde_json::from_str(seen.lines().last().unwrap()).unwrap();
    assert_eq!(last["type"], "error");
    let code = "https://docs.eventsourcingdb.io/errors/server-shutting-down";
    assert_eq!(last["data"]["code"], code);
}
