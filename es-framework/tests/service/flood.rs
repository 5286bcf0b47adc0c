//! Floods of connections, bytes and slow requests do not block other clients.

use std::{io::Write as _, net::TcpStream, process::Command};

use uuid::Uuid;

use crate::{
    http_client::post,
    memory, raw_http,
    running_service::{RunningService, book},
    service_process::ServiceProcess,
};

/// Raises the limit of open files of this process, because connections are files.
fn allow_open_files(count: u32) {
    let me = std::process::id().to_string();
    let allowed = Command::new("prlimit")
        .args(["--pid", &me, &format!("--nofile={count}:")])
        .status();
    assert!(
        allowed.unwrap().success(),
        "prlimit --nofile={count}: is refused"
    );
}

#[tokio::test]
async fn ten_thousand_idle_connections_keep_nobody_out() {
    // Both ends of a connection are in this process.
    allow_open_files(12_000);
    let library = RunningService::start();
    let idle: Vec<_> = (0..10_000)
        .map(|_| raw_http::connect(&library.url))
        .collect();
    // Each request has its own connection.
    for _ in 0..50 {
        assert_eq!(raw_http::get(&library.url, "/books").status, 200);
    }
    library.assert_works().await;
    drop(idle);
}

#[tokio::test]
async fn slowloris_keeps_nobody_out() {
    let library = RunningService::start();
    let mut heads: Vec<_> = (0..600).map(|_| raw_http::connect(&library.url)).collect();
    let drip = |streams: &mut [TcpStream], bytes: &[u8]| {
        for stream in streams {
            // The server may already have closed the connection.
            let _ = stream.write_all(bytes);
        }
    };
    drip(
        &mut heads,
        b"POST /books/purchase HTTP/1.1\r\nhost: localhost\r\n",
    );
    for round in 0..5 {
        drip(&mut heads, format!("x-{round}: y\r\n").as_bytes());
        library.assert_works().await;
    }
    let mut bodies: Vec<_> = (0..600).map(|_| raw_http::connect(&library.url)).collect();
    let head = "POST /books/purchase HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{";
    drip(&mut bodies, head.as_bytes());
    for _ in 0..5 {
        drip(&mut bodies, b" ");
        library.assert_works().await;
    }
    assert_eq!(
        library.stored_events().await.len(),
        10,
        "nothing of half a body was stored"
    );
}

/// Carries out a purchase.
async fn still_works(library: &ServiceProcess) {
    let url = format!("{}/books/purchase", library.url);
    let bought = post(&url, book(Uuid::new_v4()).to_string()).await;
    assert_eq!(bought.status(), 201);
    let log = library.process.log();
    assert!(!log.contains("panicked"), "{log}");
}

const LARGE: usize = 64 << 20;

fn purchase_head(more: &str) -> String {
    format!(
        "POST /books/purchase HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{more}\r\n"
    )
}

fn bodies() -> Vec<(&'static str, String)> {
    let large = "x".repeat(LARGE);
    let chunk = format!("{:x}\r\n{large}\r\n0\r\n\r\n", large.len());
    vec![
        (
            "a body",
            purchase_head(&format!("content-length: {}\r\n", large.len())) + &large,
        ),
        (
            "a body without a length",
            purchase_head("transfer-encoding: chunked\r\n") + &chunk,
        ),
        (
            "a body that is announced",
            purchase_head("content-length: 1000000000000\r\n"),
        ),
        (
            "a length that is no number",
            purchase_head("content-length: 18446744073709551616\r\n"),
        ),
        (
            "a chunk's size",
            purchase_head("transfer-encoding: chunked\r\n") + &"f".repeat(100) + "\r\n",
        ),
        (
            "a chunk's extension",
            purchase_head("transfer-encoding: chunked\r\n") + "1;" + &large,
        ),
        (
            "a key",
            purchase_head(&format!(
                "content-length: 2\r\nidempotency-key: {}\r\n",
                "k".repeat(256)
            )) + "{}",
        ),
    ]
}

fn heads() -> Vec<(&'static str, String)> {
    let large = "x".repeat(LARGE);
    vec![
        (
            "a header",
            format!("GET /books HTTP/1.1\r\nhost: localhost\r\nx: {large}\r\n\r\n"),
        ),
        (
            "a header's name",
            format!("GET /books HTTP/1.1\r\nhost: localhost\r\n{large}: x\r\n\r\n"),
        ),
        (
            "headers",
            format!(
                "GET /books HTTP/1.1\r\nhost: localhost\r\n{}\r\n",
                "a: b\r\n".repeat(1_000_000)
            ),
        ),
        (
            "an address",
            format!("GET /books?title={large} HTTP/1.1\r\nhost: localhost\r\n\r\n"),
        ),
        (
            "parameters",
            format!(
                "GET /books?{} HTTP/1.1\r\nhost: localhost\r\n\r\n",
                "title=a&".repeat(900)
            ),
        ),
        (
            "a method",
            format!("{large} /books HTTP/1.1\r\nhost: localhost\r\n\r\n"),
        ),
        (
            "a cursor",
            format!(
                "GET /books?cursor={} HTTP/1.1\r\nhost: localhost\r\n\r\n",
                "A".repeat(8_000)
            ),
        ),
    ]
}

#[tokio::test]
async fn whatever_is_too_large_is_refused_and_not_kept_in_memory() {
    let library = ServiceProcess::start(&[]);
    still_works(&library).await;
    let before = memory::peak(library.process.id());
    let requests = bodies().into_iter().chain(heads());
    for (what, request) in requests {
        // Without a response, the server reset the connection while the client was sending.
        if let Some(answer) = raw_http::send(&library.url, request) {
            assert!(
                (400..500).contains(&answer.status),
                "{what}: {}",
                answer.head
            );
        }
    }
    still_works(&library).await;
    let grown = memory::peak(library.process.id()) - before;
    assert!(grown < 100, "it took {grown} MiB more");
}
