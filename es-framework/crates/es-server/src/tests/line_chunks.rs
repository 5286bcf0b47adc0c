//! The HTTP chunks of streamed responses, and the head of a ping response, as bytes on the socket.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use super::{LIMIT, TOKEN, TestServer, candidate, limits::raw};
use es_event::Dialect;
use es_store::{EventStore, memory::MemoryStore};
use es_store_sqlite::EmbeddedStore;

const BATCHES: &str = "Event-Store-Line-Batches: true\r\n";

fn request(route: &str, headers: &str, body: &Value) -> String {
    let (body, length) = (body.to_string(), body.to_string().len());
    format!(
        "POST /api/v1/{route} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}\
         authorization: Bearer {TOKEN}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// The chunks of a response, without the last empty one.
fn chunks(response: &str) -> Vec<&str> {
    let (head, mut body) = response.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("Transfer-Encoding: chunked"), "{head}");
    let mut chunks = Vec::new();
    loop {
        let (length, rest) = body.split_once("\r\n").unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 {
            return chunks;
        }
        chunks.push(&rest[..length]);
        body = rest[length..].strip_prefix("\r\n").unwrap();
    }
}

#[track_caller]
fn assert_single_lines(chunks: &[&str]) {
    for chunk in chunks {
        assert_eq!(chunk.matches('\n').count(), 1, "{chunk}");
        assert!(chunk.ends_with("}\n"), "{chunk}");
        assert!(serde_json::from_str::<Value>(chunk).is_ok(), "{chunk}");
    }
}

async fn filled(store: impl EventStore) -> TestServer {
    let server = TestServer::with(store, |settings| {
        settings.heartbeat = Duration::from_secs(60);
    })
    .await;
    let mut events = vec![candidate("/a"); 3_000];
    // It is longer than a frame.
    events[7]["data"] = json!({"text": "x".repeat(200_000)});
    let write = json!({"events": events});
    assert_eq!(server.answer("write-events", &write).await.0, 200);
    server
}

#[tokio::test]
async fn each_chunk_is_exactly_one_line() {
    let directory = tempfile::tempdir().unwrap();
    for server in [
        filled(MemoryStore::new()).await,
        filled(EmbeddedStore::open(directory.path()).unwrap()).await,
    ] {
        let query = json!({"query": "FROM e IN events PROJECT INTO e.id"});
        for (route, body, count) in [
            ("read-events", json!({"subject": "/a"}), 3_000),
            ("read-subjects", json!({"baseSubject": "/"}), 2),
            ("read-event-types", json!({}), 1),
            ("run-eventql-query", query, 3_000),
        ] {
            let response = raw(&server, request(route, "", &body).as_bytes()).await;
            let chunks = chunks(&response);
            assert_single_lines(&chunks);
            assert_eq!(chunks.len(), count, "{route}");
        }
    }
}

#[tokio::test]
async fn each_chunk_of_an_observation_is_exactly_one_line() {
    let directory = tempfile::tempdir().unwrap();
    let server = filled(EmbeddedStore::open(directory.path()).unwrap()).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let observe = request("observe-events", "", &json!({"subject": "/a"}));
    stream.write_all(observe.as_bytes()).await.unwrap();
    let mut received = Vec::new();
    let write = json!({"events": vec![candidate("/a"); 500]});
    for (count, last) in [(3_000, b"\"2999\""), (3_500, b"\"3499\"")] {
        let reading = async {
            while !received.ends_with(b"}\n\r\n") || memchr::memmem::find(&received, last).is_none()
            {
                assert!(stream.read_buf(&mut received).await.unwrap() > 0);
            }
        };
        timeout(LIMIT, reading).await.unwrap();
        let response = format!("{}0\r\n", str::from_utf8(&received).unwrap());
        let chunks = chunks(&response);
        assert_single_lines(&chunks);
        assert_eq!(chunks.len(), count);
        assert_eq!(server.send("write-events", &write).await.status(), 200);
    }
}

#[tokio::test]
async fn a_client_that_accepts_batches_gets_many_lines_in_a_chunk() {
    let server = filled(MemoryStore::new()).await;
    let body = json!({"subject": "/a"});
    let lines = |response: &str| chunks(response).concat();
    let batches = raw(&server, request("read-events", BATCHES, &body).as_bytes()).await;
    assert!((1..100).contains(&chunks(&batches).len()));
    for other in ["", "Event-Store-Line-Batches: no\r\n"] {
        let single = raw(&server, request("read-events", other, &body).as_bytes()).await;
        assert_eq!(chunks(&single).len(), 3_000);
        assert_eq!(lines(&single), lines(&batches));
    }
}

#[tokio::test]
async fn the_head_of_a_ping_response_is_that_of_the_original_server() {
    let server = TestServer::start(Dialect::Event).await;
    let ping = b"GET /api/v1/ping HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let response = raw(&server, ping).await;
    let head: Vec<_> = response.split_once("\r\n\r\n").unwrap().0.lines().collect();
    assert!(head.len() >= 8, "{head:?}");
    assert_eq!(
        head[..3],
        [
            "HTTP/1.1 200 OK",
            "Cache-Control: no-store, no-cache, must-revalidate, proxy-revalidate",
            "Content-Type: application/json",
        ]
    );
    assert!(
        head.iter()
            .any(|line| line.starts_with("Server: EventSourcingDB/"))
    );
}
