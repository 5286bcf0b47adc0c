//! Hostile values, paths and headers stay values: they run nothing, lead nowhere, and do not appear in
//! answers or in the log.

use reqwest::StatusCode;
use serde_json::Value;
use uuid::Uuid;

use crate::{
    http_client::{client, get, json_of, post},
    raw_http,
    running_service::{RunningService, book},
    service_process::ServiceProcess,
};

#[tokio::test]
async fn nothing_that_a_client_sends_becomes_a_header_or_a_line_of_the_log() {
    let settings = [
        ("EVENT_METADATA_HEADERS", "x-request-id"),
        ("RUST_LOG", "debug"),
    ];
    let library = ServiceProcess::start(&settings);
    let body = book(Uuid::new_v4()).to_string();
    let head = "content-type: application/json\r\nconnection: close";
    let length = body.len();
    let with = |header: &str| {
        format!(
            "POST /books/purchase HTTP/1.1\r\nhost: localhost\r\n{head}\r\ncontent-length: {length}\r\n{header}\r\n\r\n{body}"
        )
    };
    let headers = [
        "x-request-id: a\rFORGED: 1",
        "x-request-id: a\nFORGED: 1",
        "x-request-id: a\r\n FORGED: 1",
        "x-request-id: a\0FORGED",
        "x-request-id: \u{1b}[31mFORGED",
        "x-request-id: a\u{85}FORGED",
        "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\u{1b}[2JFORGED",
        "idempotency-key: a\u{1b}FORGED",
        "if-match: \"\u{1b}FORGED\"",
        "FORGED name: 1",
        "FORGED\u{1b}: 1",
    ];
    for header in headers {
        if let Some(answer) = raw_http::send(&library.url, with(header)) {
            assert!(answer.status < 500, "{header:?}: {answer:?}");
            assert!(!answer.head.contains("FORGED"), "{header:?}: {answer:?}");
        }
    }
    for path in [
        "/books/a%0d%0aFORGED:%201",
        "/books/%1b[2JFORGED",
        "/nothing%0aFORGED%20INFO",
        "/books?title=%0aFORGED",
        "/books?%0aFORGED=1",
        "/books/a%c2%85FORGED",
    ] {
        let answer = raw_http::get(&library.url, path);
        assert!(answer.status < 500, "{path}: {answer:?}");
        assert!(!answer.head.contains("FORGED"), "{path}: {answer:?}");
    }
    let purchase = format!("{}/books/purchase", library.url);
    for member in ["id", "title", "isbn"] {
        let mut forged = book(Uuid::new_v4());
        forged[member] = "a\r\nFORGED: 1\u{1b}[2J".into();
        let answer = post(&purchase, forged.to_string()).await;
        assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
        assert!(!format!("{:?}", answer.headers()).contains("FORGED"));
    }
    let bought = post(&purchase, book(Uuid::new_v4()).to_string()).await;
    assert_eq!(bought.status(), StatusCode::CREATED);
    let log = library.process.log();
    assert!(!log.contains("panicked"), "{log}");
    for line in log.lines() {
        assert!(!line.trim_start().starts_with("FORGED"), "{line}");
        let is_control = |one: char| one.is_control() && one != '\t';
        assert!(!line.contains(is_control), "{line:?}");
    }
}

#[tokio::test]
async fn no_path_leads_out_of_the_service_or_around_its_routes() {
    let library = RunningService::start();
    for path in [
        "/books/..%2f..%2fetc%2fpasswd",
        "/books/../../etc/passwd",
        "/books/%2e%2e/%2e%2e/etc/passwd",
        "/books/..",
        "/books/%252e%252e",
        "/books/..%5c..%5c",
        "/books/..\\..",
        "/books/%c0%ae%c0%ae",
        "/books/%00",
        "/books/%",
        "/books/%f",
        "/books/%zz",
        "/books/%2f",
        "/books//",
        "//books",
        "//",
        "/./books",
        "/books/.",
        "/books%2f1",
        "/%2fbooks",
        "/books;jsessionid=1",
        "/BOOKS",
        "/books/1/",
        "/actuator/../books/x",
        "/actuator//health",
        "/actuator/health%00",
        "/actuator/health/..%2f..%2f",
    ] {
        let answer = raw_http::get(&library.url, path);
        assert!([400, 404].contains(&answer.status), "{path}: {answer:?}");
        if answer.status == 404 {
            answer.problem();
        }
    }
    let id = Uuid::new_v4();
    for path in [
        format!("/books/{id}%2f..%2f{id}/borrow"),
        format!("/books/{id}%00/borrow"),
        format!("/books/..%2fbooks%2f{id}/borrow"),
        format!("/books//{id}/borrow"),
        format!("//books/{id}/borrow"),
        "/books/%2e%2e/borrow".to_owned(),
    ] {
        let request = client()
            .post(format!("{}{path}", library.url))
            .header("content-type", "application/json");
        let answer = request
            .body(format!(r#"{{"reader":"{id}"}}"#))
            .send()
            .await
            .unwrap();
        assert!(
            [404, 422].contains(&answer.status().as_u16()),
            "{path}: {answer:?}"
        );
    }
    assert!(
        library.stored_events().await.is_empty(),
        "nothing was written anywhere"
    );
    library.assert_works().await;
}

/// Values that contain SQL.
const INJECTIONS: [&str; 14] = [
    "'",
    "\"",
    "' OR '1'='1",
    "' OR 1=1 --",
    "'; DROP TABLE book_copies; --",
    "\"; DROP TABLE book_copies; --",
    "') UNION SELECT name FROM sqlite_master --",
    "1; ATTACH DATABASE '/tmp/x' AS x",
    "' || (SELECT sql FROM sqlite_master) || '",
    "?1",
    "$1",
    "%",
    "_",
    "\\",
];

#[tokio::test]
async fn sql_in_a_query_is_a_text_like_any_other() {
    let library = RunningService::start();
    for _ in 0..3 {
        library.assert_works().await;
    }
    let fields = [
        "/books?isbn=",
        "/books?title=",
        "/books?author=",
        "/books?isLent=",
        "/books?limit=",
        "/books?cursor=",
        "/books?total=",
        "/books?sort=",
        "/books/",
    ];
    for field in fields {
        for injection in INJECTIONS {
            let text: String = injection
                .bytes()
                .map(|byte| format!("%{byte:02x}"))
                .collect();
            let path = format!("{field}{text}");
            let answer = get(&format!("{}{path}", library.url)).await;
            let status = answer.status();
            assert!(
                status == StatusCode::OK || status.is_client_error(),
                "{path}: {status}"
            );
            if status == StatusCode::OK {
                let found = json_of(answer).await;
                assert_eq!(
                    found["items"],
                    Value::Array(vec![]),
                    "{path}: no title holds it"
                );
            }
        }
    }
    for injection in INJECTIONS {
        let mut copy = book(Uuid::new_v4());
        copy["title"] = injection.into();
        assert_eq!(library.purchase(&copy).await.status, 201);
    }
    let request = client()
        .get(format!("{}/books?limit=1000", library.url))
        .header("event-position", (2 + INJECTIONS.len()).to_string());
    let stock = json_of(request.send().await.unwrap()).await;
    let titles = stock["items"].as_array().unwrap().iter().skip(3);
    let titles: Vec<_> = titles.map(|copy| copy["title"].as_str().unwrap()).collect();
    assert_eq!(titles, INJECTIONS);
}
