//! Requests that describe too much work, against the running program.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    sync::atomic::{AtomicBool, Ordering},
    thread::{scope, sleep},
    time::{Duration, Instant},
};

use serde_json::{Map, Value, json};

use crate::server_process::{ServerProcess, TOKEN};

/// The most memory that a server under attack may need, in KiB.
const MEMORY: u64 = 400 << 10;

/// Sends a request on a connection of its own. Returns the status and the text of the response.
fn post(port: &str, route: &str, body: &Value) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).ok()?;
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .ok()?;
    let body = body.to_string();
    let head = format!(
        "POST /api/v1/{route} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body.as_bytes()).ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).ok()?;
    let status = response.split(' ').nth(1)?.parse().ok()?;
    Some((status, response))
}

/// The largest amount of memory that a process has had, in KiB.
fn peak_memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!({}), |inner, _| json!({ "a": inner }))
}

fn write(event_type: &str, data: &Value) -> Value {
    let event = json!({"source": "tag:test", "subject": "/a", "type": event_type, "data": data});
    json!({ "events": [event] })
}

/// A schema whose check doubles with each level of the data.
fn doubling() -> Value {
    let mut definitions = Map::new();
    for step in 0..100 {
        let next = json!({ "$ref": format!("#/$defs/s{}", step + 1) });
        let twice = json!({ "allOf": [next, next] });
        definitions.insert(format!("s{step}"), json!({ "properties": { "a": twice } }));
    }
    definitions.insert("s100".into(), json!({}));
    let properties = json!({ "a": { "$ref": "#/$defs/s0" } });
    json!({ "type": "object", "properties": properties, "$defs": definitions })
}

fn register(port: &str, event_type: &str, schema: &Value) {
    let body = json!({"eventType": event_type, "schema": schema});
    let (status, text) = post(port, "register-event-schema", &body).unwrap();
    assert_eq!(status, 200, "{text}");
}

#[test]
fn a_schema_that_refers_to_itself_twice_harms_nobody() {
    let server = ServerProcess::temporary_within(4_000_000);
    let twice = json!({"allOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/x"}]});
    let schema = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/x"}},
        "$defs": {"x": {"properties": {"a": twice}}},
    });
    register(server.port(), "io.example.twice", &schema);
    let body = write("io.example.twice", &nested(100));
    assert_eq!(post(server.port(), "write-events", &body).unwrap().0, 200);
    assert!(peak_memory(server.pid()) < MEMORY);
    server.terminate();
}

#[test]
fn checks_without_end_are_refused_while_other_requests_are_answered() {
    let server = ServerProcess::temporary_within(4_000_000);
    let port = server.port();
    register(port, "io.example.doubling", &doubling());
    let small = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    register(port, "io.example.small", &small);
    let is_over = AtomicBool::new(false);
    let attack = write("io.example.doubling", &nested(100));
    let mut times = Vec::new();
    scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let Some((status, text)) = post(port, "write-events", &attack) else {
                        return;
                    };
                    let is_refused =
                        status == 409 && text.contains("needs more than 5000000 steps");
                    let is_busy = status == 503 && text.to_lowercase().contains("retry-after");
                    assert!(is_refused || is_busy, "{text}");
                }
            });
        }
        sleep(Duration::from_millis(200));
        for (route, body) in [
            ("write-events", write("io.example.plain", &json!({}))),
            ("write-events", write("io.example.small", &json!({"a": 1}))),
            (
                "read-events",
                json!({"subject": "/a", "options": {"recursive": true}}),
            ),
        ]
        .iter()
        .cycle()
        .take(60)
        {
            let begun = Instant::now();
            let (status, text) = post(port, route, body).unwrap();
            assert_eq!(status, 200, "{text}");
            assert!(!text.contains("io.example.doubling"), "{text}");
            times.push(begun.elapsed());
        }
        is_over.store(true, Ordering::Relaxed);
    });
    times.sort_unstable();
    // A median of some milliseconds, but the machine of the test may do other work. Without a budget, a
    // single attack blocks the server for minutes.
    assert!(times[30] < Duration::from_secs(2), "{times:?}");
    assert!(peak_memory(server.pid()) < MEMORY);
}

#[test]
fn input_that_describes_too_much_work_is_refused_with_a_sentence() {
    let server = ServerProcess::temporary_within(4_000_000);
    let pattern = |pattern: &str| {
        let schema = json!({"type": "object", "properties": {"a": {"pattern": pattern}}});
        json!({"eventType": "io.example.pattern", "schema": schema})
    };
    let query = |query: String| json!({ "query": query });
    let deep = json!({"source": "tag:test", "subject": "/a".repeat(1_000), "type": "io.example.deep", "data": {}});
    for (route, body, sentence) in [
        (
            "write-events",
            json!({"events": [deep]}),
            "at most 100 segments",
        ),
        (
            "register-event-schema",
            pattern("(a{1000}){1000}"),
            "is not a \"regex\"",
        ),
        (
            "register-event-schema",
            pattern("^(a+)+\\1$"),
            "is not a \"regex\"",
        ),
        (
            "run-eventql-query",
            query(format!(
                "FROM e IN events PROJECT INTO {}1",
                "-".repeat(1_000)
            )),
            "more than 128 levels",
        ),
        (
            "run-eventql-query",
            query(format!(
                "FROM e IN events PROJECT INTO '{}'",
                "a".repeat(70_000)
            )),
            "at most 65536 are read",
        ),
    ] {
        let (status, text) = post(server.port(), route, &body).unwrap();
        assert_eq!(status, 400, "{text}");
        assert!(text.contains(sentence), "{text}");
    }
    assert!(peak_memory(server.pid()) < MEMORY);
    server.terminate();
}

#[test]
fn the_server_ends_during_an_attack() {
    let server = ServerProcess::temporary_within(4_000_000);
    let port = server.port().to_owned();
    register(&port, "io.example.doubling", &doubling());
    let attack = write("io.example.doubling", &nested(100));
    scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| while post(&port, "write-events", &attack).is_some() {});
        }
        sleep(Duration::from_millis(500));
        let begun = Instant::now();
        server.terminate();
        assert!(
            begun.elapsed() < Duration::from_secs(15),
            "{:?}",
            begun.elapsed()
        );
    });
}
