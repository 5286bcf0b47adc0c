//! The limits of a request's size and time.

use std::time::Duration;

use futures_util::stream;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use super::{LIMIT, TestServer, candidate};
use es_event::Dialect;
use es_store::memory::MemoryStore;

/// Sends these bytes and returns the response up to the end of the connection.
pub(super) async fn raw(server: &TestServer, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    let reading = stream.read_to_end(&mut answer);
    timeout(LIMIT, reading).await.unwrap().unwrap();
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn what_is_no_http_does_no_harm() {
    let server = TestServer::start(Dialect::Item).await;
    for garbage in [
        &b"garbage\r\n\r\n"[..],
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET / HTTP/9.9\r\n\r\n",
    ] {
        let answer = raw(&server, garbage).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
    server.fill(&["/a"]).await;
}

#[tokio::test]
async fn a_request_has_exactly_one_host() {
    let server = TestServer::start(Dialect::Item).await;
    for (head, status) in [
        ("GET /api/v1/ping HTTP/1.1\r\n", 400),
        ("GET /api/v1/ping HTTP/1.1\r\nhost: a\r\nhost: b\r\n", 400),
        ("GET /api/v1/ping HTTP/1.0\r\n", 200),
        ("GET /api/v1/ping HTTP/1.1\r\nhost: a\r\n", 200),
    ] {
        let request = format!("{head}connection: close\r\n\r\n");
        let answer = raw(&server, request.as_bytes()).await;
        let (_, rest) = answer.split_once(' ').unwrap();
        assert!(rest.starts_with(&status.to_string()), "{head}: {answer}");
        assert!(answer.contains("Server: EventSourcingDB/"), "{answer}");
    }
}

#[tokio::test]
async fn a_body_with_a_content_encoding_is_refused() {
    let server = TestServer::start(Dialect::Item).await;
    let read = |encoding: &str| {
        let request = server.post("/api/v1/read-events");
        let request = request.header("content-encoding", encoding);
        request.body(r#"{"subject":"/"}"#).send()
    };
    for encoding in ["gzip", "deflate", "br"] {
        assert_eq!(read(encoding).await.unwrap().status(), 415);
    }
    assert_eq!(read("identity").await.unwrap().status(), 200);
}

#[tokio::test]
async fn an_array_is_no_request() {
    let server = TestServer::start(Dialect::Item).await;
    for (route, body) in [
        ("write-events", json!([[candidate("/a")]])),
        ("read-events", json!(["/"])),
        ("observe-events", json!(["/"])),
        ("read-subjects", json!(["/"])),
        (
            "run-eventql-query",
            json!(["FROM e IN events PROJECT INTO e"]),
        ),
        ("read-event-type", json!(["io.example.test"])),
        ("register-event-schema", json!(["io.example.test", {}])),
        ("read-events", json!(null)),
        ("read-events", json!("/")),
    ] {
        let (status, text) = server.answer(route, &body).await;
        assert_eq!(status, 400, "{route}");
        assert!(text.contains("not a JSON object"), "{text}");
    }
    let event = json!(["tag:a", "/a", "io.example.a", {}]);
    let bound = json!({"lowerBound": ["0", "inclusive"]});
    let latest = json!({"fromLatestEvent": ["/a", "io.example.a", "read-everything"]});
    let under =
        |precondition: Value| json!({"events": [candidate("/a")], "preconditions": [precondition]});
    for (route, body) in [
        ("write-events", json!({ "events": [event] })),
        (
            "write-events",
            under(json!(["isSubjectPristine", {"subject": "/a"}])),
        ),
        (
            "write-events",
            under(json!({"type": "isSubjectPristine", "payload": ["/a"]})),
        ),
        ("read-events", json!({"subject": "/a", "options": [true]})),
        ("read-events", json!({"subject": "/a", "options": bound})),
        ("read-events", json!({"subject": "/a", "options": latest})),
        (
            "observe-events",
            json!({"subject": "/a", "options": [true]}),
        ),
        (
            "observe-events",
            json!({"subject": "/a", "options": latest}),
        ),
    ] {
        let (status, text) = server.answer(route, &body).await;
        assert_eq!(status, 400, "{route} {body}: {text}");
        assert!(text.contains("expected an object"), "{text}");
    }
    assert_eq!(server.ids(&json!({"subject": "/a"})).await.len(), 0);
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_refused() {
    let server = TestServer::with(MemoryStore::new(), |settings| settings.body_limit = 1_000).await;
    let mut large = candidate("/a");
    large["data"] = json!({"text": "x".repeat(2_000)});
    let (status, text) = server
        .answer("write-events", &json!({"events": [large]}))
        .await;
    assert_eq!(status, 413);
    assert!(text.contains("1000 bytes"), "{text}");
    let chunks = stream::iter((0..100).map(|_| Ok::<_, std::io::Error>("x".repeat(100))));
    let body = reqwest::Body::wrap_stream(chunks);
    let request = server.post("/api/v1/read-events").body(body);
    assert_eq!(request.send().await.unwrap().status(), 413);
    server.fill(&["/a"]).await;
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let server = TestServer::with(MemoryStore::new(), |settings| {
        settings.request_time = Duration::from_millis(50);
    })
    .await;
    let silence = stream::pending::<Result<String, std::io::Error>>();
    let body = reqwest::Body::wrap_stream(silence);
    let request = server.post("/api/v1/read-events").body(body);
    assert_eq!(request.send().await.unwrap().status(), 408);
}

#[tokio::test]
async fn data_as_large_as_official_clients_send_is_taken() {
    let server = TestServer::start(Dialect::Event).await;
    let mut large = candidate("/a");
    large["data"] = json!({"text": "\"\\\n".repeat(64 * 1024)});
    let (status, _) = server
        .answer("write-events", &json!({"events": [large]}))
        .await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn what_passes_as_data_can_be_read_by_the_same_parser() {
    let server = TestServer::start(Dialect::Item).await;
    let mut stored = 0;
    for depth in [
        1, 50, 100, 120, 122, 123, 124, 125, 126, 127, 128, 200, 100_000,
    ] {
        let data = format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        let body = json!({"events": [candidate("/deep")]}).to_string();
        let body = body.replace("\"data\":{}", &format!("\"data\":{data}"));
        let request = server.post("/api/v1/write-events").body(body);
        let status = request.send().await.unwrap().status();
        assert!(status == 200 || status == 400, "{depth}: {status}");
        stored += usize::from(status == 200);
    }
    assert!(stored > 3, "{stored}");
    assert_eq!(server.ids(&json!({"subject": "/deep"})).await.len(), stored);
}

#[tokio::test]
async fn a_write_has_a_bounded_number_of_events() {
    let server = TestServer::with(MemoryStore::new(), |settings| settings.events_limit = 3).await;
    let events = |count| json!({"events": vec![candidate("/a"); count]});
    assert_eq!(server.answer("write-events", &events(3)).await.0, 200);
    let (status, text) = server.answer("write-events", &events(4)).await;
    assert_eq!(status, 400);
    assert!(text.contains("at most 3 events"), "{text}");
}

#[tokio::test]
async fn the_lists_of_a_write_are_counted_before_their_elements_are_parsed() {
    let server = TestServer::with(MemoryStore::new(), |settings| settings.events_limit = 3).await;
    // Each of these elements is invalid, and a parser would name the first one.
    for body in [
        json!({"events": [7, 7, 7, 7]}),
        json!({"events": [candidate("/a")], "preconditions": [7, 7, 7, 7]}),
    ] {
        let (status, text) = server.answer("write-events", &body).await;
        assert_eq!(status, 400);
        assert!(text.contains("at most 3 events"), "{text}");
        let (status, text) = server.v2_answer("write-events", &body).await;
        assert_eq!(status, 413);
        assert!(text.contains("at most 3 events"), "{text}");
    }
}
