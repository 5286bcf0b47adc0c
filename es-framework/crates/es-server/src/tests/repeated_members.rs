//! A request in which an object has two members of one name is refused.

use serde_json::{Value, json};

use super::TestServer;
use es_event::Dialect;

fn write_of(data: &str) -> String {
    format!(
        r#"{{"events":[{{"source":"tag:test","subject":"/a","type":"io.example.test","data":{data}}}]}}"#
    )
}

impl TestServer {
    async fn raw_answer(&self, version: u8, route: &str, body: &str) -> (u16, String) {
        let request = if version == 1 {
            self.post(&format!("/api/v1/{route}"))
        } else {
            self.v2(&format!("data/{route}"))
        };
        let response = request.body(body.to_owned()).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }
}

#[tokio::test]
async fn event_data_with_a_repeated_member_is_not_written() {
    let server = TestServer::start(Dialect::Event).await;
    for data in [
        r#"{"a":1,"a":2}"#,
        r#"{"a":1,"b":2,"a":1}"#,
        r#"{"a":{"b":[{"c":1},{"d":1,"d":2}]}}"#,
        r#"{"a":1,"\u0061":2}"#,
    ] {
        let body = write_of(data);
        let (status, text) = server.raw_answer(1, "write-events", &body).await;
        assert_eq!(status, 400, "{text}");
        assert!(text.contains("an object has two members"), "{text}");
        let (status, text) = server.raw_answer(2, "write-events", &body).await;
        assert_eq!(status, 200, "{text}");
        let line: Value = serde_json::from_str(&text).unwrap();
        let code = line["data"]["code"].as_str().unwrap();
        assert!(code.ends_with("/data-malformed"), "{text}");
        assert_eq!(line["data"]["details"]["index"], 0, "{text}");
    }
    let all = json!({"subject": "/", "options": {"recursive": true}});
    assert!(server.ids(&all).await.is_empty());
    for version in [1, 2] {
        let body = write_of(r#"{"a":{"a":1},"b":[{"a":1},{"a":1}]}"#);
        let (status, text) = server.raw_answer(version, "write-events", &body).await;
        assert!(status == 200 && !text.contains("error"), "{text}");
    }
}

#[tokio::test]
async fn a_repeated_member_of_any_request_is_refused() {
    let server = TestServer::start(Dialect::Event).await;
    let schema = r#"{"type":"object","properties":{"a":{"type":"string"},"a":{"type":"number"}}}"#;
    for (version, route, body) in [
        (
            1,
            "read-events",
            r#"{"subject":"/","subject":"/a"}"#.to_owned(),
        ),
        (
            1,
            "read-events",
            r#"{"subject":"/","unknown":1,"unknown":2}"#.to_owned(),
        ),
        (
            1,
            "read-events",
            r#"{"subject":"/","options":{"recursive":true,"recursive":false}}"#.to_owned(),
        ),
        (
            2,
            "read-events",
            r#"{"subject":"/","options":{"recursive":true,"recursive":false}}"#.to_owned(),
        ),
        (
            2,
            "run-eventql-query",
            r#"{"query":"a","query":"b"}"#.to_owned(),
        ),
        (
            1,
            "write-events",
            write_of("{}").replace(r#""data""#, r#""note":1,"note":2,"data""#),
        ),
        (
            2,
            "write-events",
            write_of("{}").replacen('{', r#"{"events":[],"#, 1),
        ),
        (
            1,
            "register-event-schema",
            format!(r#"{{"eventType":"io.example.test","schema":{schema}}}"#),
        ),
        (
            1,
            "register-event-schema",
            json!({"eventType": "io.example.test", "schema": schema}).to_string(),
        ),
        (
            2,
            "register-event-schema",
            format!(r#"{{"type":"io.example.test","schema":{schema}}}"#),
        ),
    ] {
        let (status, text) = server.raw_answer(version, route, &body).await;
        assert_eq!(status, 400, "{body}: {text}");
        assert!(
            text.contains("two members") || text.contains("duplicate field"),
            "{text}"
        );
    }
}
