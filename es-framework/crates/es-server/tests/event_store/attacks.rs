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

/// Sends a request on a connection of its own.
fn send(port: &str, route: &str, body: &Value) -> Option<TcpStream> {
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
    Some(stream)
}

/// Sends a request on a connection of its own. Returns the status and the text of the response.
fn post(port: &str, route: &str, body: &Value) -> Option<(u16, String)> {
    let mut stream = send(port, route, body)?;
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

/// Checks the times of requests during an attack. The median is some milliseconds, also in a debug build on
/// two processors. Single requests may take longer, because the machine of the test does other work.
fn assert_answered_in_time(mut times: Vec<Duration>) {
    times.sort_unstable();
    assert!(
        times[times.len() / 2] < Duration::from_millis(100),
        "{times:?}"
    );
    assert!(
        times[times.len() * 9 / 10] < Duration::from_secs(1),
        "{times:?}"
    );
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
    assert_answered_in_time(times);
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

/// Writes `[item,item,…]`.
fn array_of(item: &str, count: usize) -> String {
    format!("[{}]", vec![item; count].join(","))
}

#[test]
fn a_query_whose_row_multiplies_is_refused() {
    let server = ServerProcess::temporary_within(4_000_000);
    let event = write("io.example.plain", &json!({"text": "x"}));
    assert_eq!(post(server.port(), "write-events", &event).unwrap().0, 200);
    let (mut arrays, mut texts) = ("1".to_owned(), "a.data.text".to_owned());
    for (source, alias) in [("events", "a"), ("b", "b"), ("c", "c"), ("d", "d")] {
        let source = |inner: &str| match source {
            "events" => "events".to_owned(),
            _ => format!("({inner})"),
        };
        let longer = format!("REPLACE({alias}, 'x', '{}')", "x".repeat(4_000));
        let text = if alias == "a" { &texts } else { &longer };
        texts = format!("FROM {alias} IN {} PROJECT INTO {text}", source(&texts));
        let many = array_of(alias, 2_000);
        arrays = format!("FROM {alias} IN {} PROJECT INTO {many}", source(&arrays));
    }
    for query in [arrays, texts] {
        let body = json!({ "query": query });
        let (status, text) = post(server.port(), "run-eventql-query", &body).unwrap();
        assert_eq!(status, 200, "{text}");
        assert!(text.contains("bytes of memory"), "{text}");
        let mut body = event.clone();
        let payload = json!({ "query": query });
        body["preconditions"] = json!([{"type": "isEventQlQueryTrue", "payload": payload}]);
        let (status, text) = post(server.port(), "write-events", &body).unwrap();
        assert_eq!(status, 400, "{text}");
        assert!(text.contains("bytes of memory"), "{text}");
    }
    assert!(peak_memory(server.pid()) < MEMORY);
    server.terminate();
}

#[test]
fn queries_with_a_row_without_end_leave_the_other_requests_alone() {
    let server = ServerProcess::temporary_within(4_000_000);
    let port = server.port();
    let large = json!({"a": 1, "text": "x".repeat(8_000_000)});
    let large = write("io.example.large", &large);
    assert_eq!(post(port, "write-events", &large).unwrap().0, 200);
    let row = array_of("e.data.a", 7_000);
    let attack = json!({ "query": format!("FROM e IN events PROJECT INTO {row}") });
    let attackers: Vec<_> = (0..8)
        .map(|_| send(port, "run-eventql-query", &attack).unwrap())
        .collect();
    sleep(Duration::from_millis(300));
    let mut times = Vec::new();
    for (route, body) in [
        ("write-events", write("io.example.plain", &json!({}))),
        (
            "read-events",
            json!({"subject": "/b", "options": {"recursive": true}}),
        ),
        ("read-subjects", json!({"baseSubject": "/"})),
    ]
    .iter()
    .cycle()
    .take(60)
    {
        let begun = Instant::now();
        let (status, text) = post(port, route, body).unwrap();
        assert_eq!(status, 200, "{text}");
        times.push(begun.elapsed());
    }
    assert_answered_in_time(times);
    assert!(peak_memory(server.pid()) < MEMORY);
    // The clients go away, which ends their queries.
    drop(attackers);
    let begun = Instant::now();
    server.terminate();
    let elapsed = begun.elapsed();
    assert!(elapsed < Duration::from_secs(5), "{elapsed:?}");
}
