//! Each limit answers the client that exceeds it, and does not affect others.

use std::{io::Write as _, net::TcpListener, time::Duration};

use es_framework::Settings;
use reqwest::StatusCode;
use uuid::Uuid;

use crate::{
    http_client::{client, get, json_of, post},
    raw_http,
    running_service::{RunningService, TOKEN, assert_no_panics, book},
    service_process::ServiceProcess,
};

fn purchase_head(more: &str) -> String {
    format!(
        "POST /books/purchase HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{more}\r\n"
    )
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_refused_whether_or_not_its_length_is_told() {
    let library = RunningService::start_with(Settings::default().http_body_limit(1_000));
    let long = "x".repeat(1_001);
    let told = purchase_head("content-length: 1001\r\n") + &long;
    let untold =
        purchase_head("transfer-encoding: chunked\r\n") + &format!("3e9\r\n{long}\r\n0\r\n\r\n");
    for request in [told, untold] {
        let answer = raw_http::send(&library.url, request).unwrap();
        assert_eq!((answer.status, &*answer.problem()), (413, "body-too-large"));
    }
    library.assert_works().await;
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let settings = Settings::default().http_body_seconds(Duration::from_secs(1));
    let library = RunningService::start_with(settings);
    let mut slow = raw_http::connect(&library.url);
    slow.write_all(purchase_head("content-length: 100\r\n").as_bytes())
        .unwrap();
    slow.write_all(b"{\"id\":").unwrap();
    let answer = raw_http::answer(&mut slow).unwrap();
    assert_eq!((answer.status, &*answer.problem()), (408, "body-too-slow"));
    library.assert_works().await;
}

#[tokio::test]
async fn headers_and_addresses_beyond_the_limit_are_refused() {
    let settings = Settings::default().http_headers_limit(2_000);
    let library = RunningService::start_with(settings.http_header_count_limit(10));
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
    let library = RunningService::start();
    let answer = raw_http::get(&library.url, &format!("/books?title={}", "x".repeat(9_000)));
    assert_eq!(
        (answer.status, &*answer.problem()),
        (414, "address-too-long")
    );
    library.assert_works().await;
}

#[tokio::test]
async fn a_head_that_does_not_come_is_not_waited_for() {
    let settings = Settings::default().http_headers_seconds(Duration::from_secs(1));
    let library = RunningService::start_with(settings);
    let mut silent = raw_http::connect(&library.url);
    let mut slow = raw_http::connect(&library.url);
    slow.write_all(b"GET /books HTTP/1.1\r\nhost:").unwrap();
    assert!(raw_http::answer(&mut silent).is_none());
    assert!(raw_http::answer(&mut slow).is_none_or(|answer| answer.status == 408));
    library.assert_works().await;
}

/// A service whose event store accepts connections and never responds, so its read models never catch up.
fn start_with_silent_store(settings: Settings) -> (TcpListener, RunningService) {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    (silent, RunningService::start_with_store_at(&url, settings))
}

/// Sends a query, which waits for the read model for up to five seconds.
fn wait_for_read_model(library: &RunningService) -> tokio::task::JoinHandle<reqwest::Response> {
    let request = client().get(format!("{}/books", library.url));
    tokio::spawn(async { request.send().await.unwrap() })
}

async fn still_responds(library: &RunningService) {
    let info = get(&format!("{}/actuator/info", library.url)).await;
    assert_eq!(info.status(), StatusCode::OK);
    assert_no_panics();
}

#[tokio::test]
async fn requests_beyond_the_limit_are_told_to_come_back() {
    let (_silent, library) = start_with_silent_store(Settings::default().http_request_limit(2));
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
    let settings = Settings::default().http_request_seconds(Duration::from_secs(1));
    let (_silent, library) = start_with_silent_store(settings);
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
async fn the_embedded_event_store_has_the_limits_of_the_settings() {
    let settings = [
        ("EVENT_STORE_OBSERVER_LIMIT", "1"),
        ("EVENT_STORE_QUERY_MEMORY", "1000"),
    ];
    let library = ServiceProcess::start(&settings);
    let purchase = format!("{}/books/purchase", library.url);
    let bought = post(&purchase, book(Uuid::new_v4()).to_string()).await;
    assert_eq!(bought.status(), StatusCode::CREATED);
    let send = async |route: &str, body: &'static str| {
        let request = client().post(format!("{}/api/v1/{route}", library.store_url));
        let request = request.bearer_auth(TOKEN).body(body);
        request.send().await.unwrap()
    };
    let everything = r#"{"subject":"/","options":{"recursive":true}}"#;
    let observer = send("observe-events", everything).await;
    assert_eq!(observer.status(), StatusCode::OK);
    let refused = send("observe-events", everything).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    let query = r#"{"query":"FROM e IN events ORDER BY e.time PROJECT INTO e"}"#;
    let answer = send("run-eventql-query", query).await.text().await.unwrap();
    assert!(answer.contains("\"type\":\"error\""), "{answer}");
    assert!(answer.contains("memory"), "{answer}");
}
