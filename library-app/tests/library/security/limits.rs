//! Each limit answers the client that exceeds it, and does not affect others.

use std::{io::Write as _, net::TcpListener};

use crate::support::{Library, TOKEN, book, client, eventually, get, json_of, raw_http};
use reqwest::StatusCode;
use uuid::Uuid;

fn start(settings: &[(&str, &str)]) -> (tempfile::TempDir, Library) {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded_with(folder.path(), settings);
    (folder, library)
}

async fn still_works(library: &Library) {
    let bought = library.purchase(&book(Uuid::new_v4())).await;
    assert_eq!(bought.status(), StatusCode::CREATED);
    assert!(!library.process.log().contains("panicked"));
}

fn purchase_head(more: &str) -> String {
    format!(
        "POST /books/purchase HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{more}\r\n"
    )
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_refused_whether_or_not_its_length_is_told() {
    let (_folder, library) = start(&[("HTTP_BODY_LIMIT", "1000")]);
    let long = "x".repeat(1_001);
    let told = purchase_head("content-length: 1001\r\n") + &long;
    let untold =
        purchase_head("transfer-encoding: chunked\r\n") + &format!("3e9\r\n{long}\r\n0\r\n\r\n");
    for request in [told, untold] {
        let answer = raw_http::send(&library.url, request).unwrap();
        assert_eq!((answer.status, &*answer.problem()), (413, "body-too-large"));
    }
    still_works(&library).await;
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let (_folder, library) = start(&[("HTTP_BODY_SECONDS", "1")]);
    let mut slow = raw_http::connect(&library.url);
    slow.write_all(purchase_head("content-length: 100\r\n").as_bytes())
        .unwrap();
    slow.write_all(b"{\"id\":").unwrap();
    let answer = raw_http::answer(&mut slow).unwrap();
    assert_eq!((answer.status, &*answer.problem()), (408, "body-too-slow"));
    still_works(&library).await;
}

#[tokio::test]
async fn headers_and_addresses_beyond_the_limit_are_refused() {
    let settings = [
        ("HTTP_HEADERS_LIMIT", "2000"),
        ("HTTP_HEADER_COUNT_LIMIT", "10"),
    ];
    let (_folder, library) = start(&settings);
    let head = |more: &str| format!("GET /books HTTP/1.1\r\nhost: localhost\r\n{more}\r\n");
    let long = head(&format!("x: {}\r\n", "x".repeat(2_000)));
    let many = head(&"x: y\r\n".repeat(11));
    for request in [long, many] {
        let answer = raw_http::send(&library.url, request).unwrap();
        assert_eq!(
            (answer.status, &*answer.problem()),
            (431, "headers-too-large")
        );
    }
    let (_folder, library) = start(&[]);
    let answer = raw_http::get(&library.url, &format!("/books?title={}", "x".repeat(9_000)));
    assert_eq!(
        (answer.status, &*answer.problem()),
        (414, "address-too-long")
    );
    still_works(&library).await;
}

#[tokio::test]
async fn a_head_that_does_not_come_is_not_waited_for() {
    let (_folder, library) = start(&[("HTTP_HEADERS_SECONDS", "1")]);
    let mut silent = raw_http::connect(&library.url);
    let mut slow = raw_http::connect(&library.url);
    slow.write_all(b"GET /books HTTP/1.1\r\nhost:").unwrap();
    assert!(raw_http::answer(&mut silent).is_none());
    assert!(raw_http::answer(&mut slow).is_none_or(|answer| answer.status == 408));
    still_works(&library).await;
}

/// A library whose event store accepts connections and never responds, so its read models never catch up.
fn start_with_silent_store(limit: (&str, &str)) -> (TcpListener, Library) {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let settings = [limit, ("EVENT_STORE_API_TOKEN", TOKEN)];
    (silent, Library::with_store_and(&url, &settings))
}

/// Sends a query, which waits for the read model for up to five seconds.
fn wait_for_read_model(library: &Library) -> tokio::task::JoinHandle<reqwest::Response> {
    let request = client().get(format!("{}/books", library.url));
    tokio::spawn(async { request.send().await.unwrap() })
}

async fn still_responds(library: &Library) {
    let info = get(&format!("{}/actuator/info", library.url)).await;
    assert_eq!(info.status(), StatusCode::OK);
    assert!(!library.process.log().contains("panicked"));
}

#[tokio::test]
async fn requests_beyond_the_limit_are_told_to_come_back() {
    let (_silent, library) = start_with_silent_store(("HTTP_REQUEST_LIMIT", "2"));
    let asked: Vec<_> = (0..10).map(|_| wait_for_read_model(&library)).collect();
    let alive = get(&format!("{}/actuator/health/liveness", library.url)).await;
    assert_eq!(
        alive.status(),
        StatusCode::OK,
        "which is asked for all the same"
    );
    let mut refused = 0;
    for one in asked {
        let answer = one.await.unwrap();
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(answer.headers().contains_key("retry-after"));
        match json_of(answer).await["type"].as_str().unwrap() {
            "tag:es-framework,2026:problem:too-busy" => refused += 1,
            "tag:es-framework,2026:problem:position-not-reached" => {}
            other => panic!("{other}"),
        }
    }
    assert_eq!(refused, 8, "two may wait");
    still_responds(&library).await;
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_ended() {
    let (_silent, library) = start_with_silent_store(("HTTP_REQUEST_SECONDS", "1"));
    let late = wait_for_read_model(&library).await.unwrap();
    assert_eq!(late.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(late.headers().contains_key("retry-after"));
    let problem = json_of(late).await;
    assert_eq!(
        problem["type"],
        "tag:es-framework,2026:problem:took-too-long"
    );
    still_responds(&library).await;
}

#[tokio::test]
async fn observers_beyond_the_limit_are_told_to_come_back() {
    let (_folder, library) = start(&[("EVENT_STORE_OBSERVER_LIMIT", "2")]);
    let observe = async || {
        let request = client()
            .post(format!("{}/api/v1/observe-events", library.store_url))
            .bearer_auth(TOKEN)
            .header("content-type", "application/json");
        let body = r#"{"subject":"/","options":{"recursive":true}}"#;
        request.body(body).send().await.unwrap()
    };
    let (first, second) = (observe().await, observe().await);
    assert_eq!(
        (first.status(), second.status()),
        (StatusCode::OK, StatusCode::OK)
    );
    let third = observe().await;
    assert_eq!(third.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(third.headers().contains_key("retry-after"));
    assert!(third.text().await.unwrap().contains("2 observers"));
    still_works(&library).await;
    drop(first);
    let next = eventually("the place is free again", async || {
        let answer = observe().await;
        (answer.status() == StatusCode::OK).then_some(answer)
    });
    next.await;
}

#[tokio::test]
async fn an_eventql_query_beyond_its_memory_or_time_is_ended() {
    let (_folder, library) = start(&[("EVENT_STORE_QUERY_MEMORY", "1000")]);
    for _ in 0..20 {
        still_works(&library).await;
    }
    let query = r#"{"query":"FROM e IN events ORDER BY e.time PROJECT INTO e"}"#;
    let request = client()
        .post(format!("{}/api/v1/run-eventql-query", library.store_url))
        .bearer_auth(TOKEN)
        .header("content-type", "application/json");
    let answer = request
        .body(query)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(answer.contains("\"type\":\"error\""), "{answer}");
    assert!(answer.contains("memory"), "{answer}");
}

#[test]
fn a_limit_of_none_stops_the_start() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_library-app"))
        .env("HTTP_BODY_LIMIT", "0")
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(complaint.contains("--http-body-limit"), "{complaint}");
}
