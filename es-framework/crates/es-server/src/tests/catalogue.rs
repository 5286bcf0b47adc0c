//! Subjects, event types and schemas.

use serde_json::{Value, json};

use super::TestServer;
use es_event::Dialect;

fn lines(text: &str) -> Vec<Value> {
    assert!(text.is_empty() || text.ends_with('\n'), "{text}");
    let line = |line| serde_json::from_str(line).unwrap();
    text.lines().map(line).collect()
}

async fn rows(server: &TestServer, route: &str, body: &Value) -> Vec<Value> {
    let (status, text) = server.answer(route, body).await;
    assert_eq!(status, 200, "{text}");
    lines(&text)
}

fn bought(data: &Value) -> Value {
    json!({"source": "tag:test", "subject": "/a", "type": "io.example.bought", "data": data})
}

fn titled() -> Value {
    json!({"type": "object", "properties": {"title": {"type": "string"}}})
}

#[tokio::test]
async fn subjects_come_a_line_each() {
    let server = TestServer::start(Dialect::Event).await;
    let all = json!({"baseSubject": "/"});
    assert!(rows(&server, "read-subjects", &all).await.is_empty());
    server.fill(&["/test/2", "/test/1"]).await;
    let line = |subject: &str| json!({"type": "subject", "payload": {"subject": subject}});
    let listed = rows(&server, "read-subjects", &all).await;
    assert_eq!(listed, ["/", "/test", "/test/1", "/test/2"].map(line));
    let below = rows(&server, "read-subjects", &json!({"baseSubject": "/test"})).await;
    assert_eq!(below, ["/test", "/test/1", "/test/2"].map(line));
    let none = rows(&server, "read-subjects", &json!({"baseSubject": "/x"})).await;
    assert!(none.is_empty());
    for invalid in [json!({"baseSubject": ""}), json!({})] {
        let (status, text) = server.answer("read-subjects", &invalid).await;
        assert_eq!(status, 400);
        assert!(text.to_lowercase().contains("subject"), "{text}");
    }
}

#[tokio::test]
async fn event_types_come_a_line_each_whatever_the_body() {
    let server = TestServer::start(Dialect::Event).await;
    let events = json!({"events": [bought(&json!({}))]});
    assert_eq!(server.answer("write-events", &events).await.0, 200);
    let registered = json!({"eventType": "io.example.added", "schema": titled()});
    assert_eq!(
        server.answer("register-event-schema", &registered).await.0,
        200
    );
    let expected = [
        json!({"type": "eventType", "payload": {
            "eventType": "io.example.added", "isPhantom": true, "schema": titled()}}),
        json!({"type": "eventType", "payload": {
            "eventType": "io.example.bought", "isPhantom": false}}),
    ];
    for body in ["", "null", "{}"] {
        let request = server.post("/api/v1/read-event-types").body(body);
        let text = request.send().await.unwrap().text().await.unwrap();
        assert_eq!(lines(&text), expected);
    }
}

#[tokio::test]
async fn one_event_type_is_a_plain_object() {
    let server = TestServer::start(Dialect::Event).await;
    let events = json!({"events": [bought(&json!({}))]});
    assert_eq!(server.answer("write-events", &events).await.0, 200);
    let ask = async |event_type: &str| {
        let body = json!({"eventType": event_type});
        server.answer("read-event-type", &body).await
    };
    let (status, text) = ask("io.example.bought").await;
    let known: Value = serde_json::from_str(&text).unwrap();
    let expected = json!({"eventType": "io.example.bought", "isPhantom": false});
    assert_eq!((status, known), (200, expected));
    let unknown = (404, "event type 'io.example.lent' not found\n".to_owned());
    assert_eq!(ask("io.example.lent").await, unknown);
    let long = format!("io.{}.", "x".repeat(200));
    for malformed in ["io.x.test.", "test", "", &long] {
        let text = format!("invalid event type: '{malformed}'\n");
        assert_eq!(ask(malformed).await, (400, text));
    }
}

#[tokio::test]
async fn the_older_shape_has_schemas_as_text() {
    let server = TestServer::start(Dialect::Item).await;
    let text = titled().to_string();
    let body = json!({"eventType": "io.example.bought", "schema": text});
    assert_eq!(server.answer("register-event-schema", &body).await.0, 200);
    let listed = rows(&server, "read-event-types", &json!({})).await;
    let schema = listed[0]["payload"]["schema"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(schema).unwrap(), titled());
}

#[tokio::test]
async fn a_schema_holds_for_every_later_write() {
    let server = TestServer::start(Dialect::Event).await;
    let body = json!({"eventType": "io.example.bought", "schema": titled()});
    let (status, text) = server.answer("register-event-schema", &body).await;
    let event: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(status, 200);
    assert_eq!(
        event["type"],
        "io.eventsourcingdb.api.event-schema-registered"
    );
    assert_eq!(event["subject"], "/api/v1/register-event-schema");
    assert_eq!(event["data"], body);

    let again = server.answer("register-event-schema", &body).await;
    let exists = "schema conflict: schema already exists\n".to_owned();
    assert_eq!(again, (409, exists));
    let wrong = json!({"events": [bought(&json!({"title": 1}))]});
    let (status, text) = server.answer("write-events", &wrong).await;
    assert_eq!(status, 409);
    let words = "schema conflict: event candidate does not match schema: expected string";
    assert!(text.starts_with(words), "{text}");
    let right = json!({"events": [bought(&json!({"title": "DDD"}))]});
    assert_eq!(server.answer("write-events", &right).await.0, 200);
}

#[tokio::test]
async fn a_schema_is_refused_with_the_reason() {
    let server = TestServer::start(Dialect::Event).await;
    let events = json!({"events": [bought(&json!({"oy": 1}))]});
    assert_eq!(server.answer("write-events", &events).await.0, 200);
    let closed = json!({"type": "object", "properties": {}, "additionalProperties": false});
    for (event_type, schema, status, words) in [
        (
            "io.example.bought",
            closed,
            409,
            "schema conflict: event with ID 0: additionalProperties 'oy' not allowed",
        ),
        (
            "io.example.bought",
            json!({"type": "gurkenwasser", "properties": {}}),
            400,
            r#"value must be "object""#,
        ),
        (
            "io.example.bought",
            json!({"type": "object", "additionalProperties": false}),
            400,
            "missing properties",
        ),
        ("io.example.bought", json!({"x": "asd"}), 400, "object"),
        ("", titled(), 400, "invalid event type: ''"),
        (
            "io.example.bought",
            json!({"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}}),
            400,
            "nothing is ever fetched",
        ),
    ] {
        let body = json!({"eventType": event_type, "schema": schema});
        let (found, text) = server.answer("register-event-schema", &body).await;
        assert_eq!(found, status, "{text}");
        assert!(text.contains(words) && text.ends_with('\n'), "{text}");
    }
}
