//! Malformed requests receive a problem and change nothing.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use es_framework::{
    ClientResponse,
    axum::{
        body::Body,
        http::{HeaderValue, Method, Request, StatusCode, header},
    },
};
use serde_json::{Value as Json, json};
use uuid::Uuid;

use crate::{
    raw_http,
    running_service::{RunningService, book},
};

async fn send(library: &RunningService, request: Request<Body>) -> ClientResponse {
    library.client.send(request).await.unwrap()
}

/// Sends a purchase with these headers.
async fn purchase(
    library: &RunningService,
    headers: &[(header::HeaderName, &str)],
    body: impl Into<Vec<u8>>,
) -> ClientResponse {
    let body = body.into();
    let mut request = Request::post("/books/purchase");
    request = request.header(header::CONTENT_LENGTH, body.len());
    for (name, value) in headers {
        request = request.header(name, HeaderValue::try_from(*value).unwrap());
    }
    send(library, request.body(body.into()).unwrap()).await
}

/// The service carries out a purchase after the malformed requests, none of which stored anything.
async fn still_works(library: &RunningService) {
    assert!(library.stored_events().await.is_empty());
    library.assert_works().await;
}

const JSON: (header::HeaderName, &str) = (header::CONTENT_TYPE, "application/json");

/// Checks that the response is a problem with all its members. Returns it.
fn problem_of(name: &str, response: &ClientResponse) -> Json {
    let content_type = response.header("content-type");
    assert_eq!(content_type, Some("application/problem+json"), "{name}");
    let problem: Json = response.json().unwrap();
    assert_eq!(problem["status"], response.status, "{name}");
    for member in ["type", "title", "detail"] {
        let text = problem[member].as_str();
        assert!(
            text.is_some_and(|text| !text.is_empty()),
            "{name}: {problem}"
        );
    }
    problem
}

/// A request body and the expected response.
struct Case {
    name: &'static str,
    body: Vec<u8>,
    status: StatusCode,
    /// The pointer of the first violation, if there is one.
    pointer: Option<&'static str>,
}

fn case(name: &'static str, body: impl Into<Vec<u8>>, status: StatusCode) -> Case {
    Case {
        name,
        body: body.into(),
        status,
        pointer: None,
    }
}

/// Returns a purchase with one member changed; `null` removes the member.
fn changed(name: &'static str, member: &str, value: Json, pointer: &'static str) -> Case {
    let mut book = book(Uuid::new_v4());
    match value {
        Json::Null => book.as_object_mut().unwrap().remove(member),
        value => book
            .as_object_mut()
            .unwrap()
            .insert(member.to_owned(), value),
    };
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    Case {
        name,
        body: book.to_string().into(),
        status,
        pointer: Some(pointer),
    }
}

fn malformed() -> Vec<Case> {
    let mut invalid_utf8 = br#"{"id":""#.to_vec();
    invalid_utf8.extend([0xff, 0xfe, b'"', b'}']);
    let raw_control = book(Uuid::new_v4())
        .to_string()
        .replace("Lord", "Lo\u{1}rd");
    let bad = StatusCode::BAD_REQUEST;
    let invalid = StatusCode::UNPROCESSABLE_ENTITY;
    vec![
        case("no body", "", bad),
        case("blanks only", " \n ", bad),
        case("not JSON", "id=1&title=2", bad),
        case("half a document", r#"{"id":"#, bad),
        case("two documents", "{}{}", bad),
        case("invalid UTF-8", invalid_utf8, bad),
        case("a raw control character", raw_control, bad),
        case("an array", "[]", invalid),
        case(
            "all values in an array",
            r#"["01987a8c-6a3b-7b2c-9d4e-1f2a3b4c5d6e","978-0-345-53943-1","a","b",7]"#,
            invalid,
        ),
        case("null", "null", invalid),
        case("deep nesting of arrays", "[".repeat(200_000), invalid),
        case("deep nesting of objects", "{\"a\":".repeat(100_000), bad),
        case(
            "deep nesting inside",
            format!("{{\"id\":{}", "[".repeat(200_000)),
            bad,
        ),
        case("a member twice", r#"{"id":"a","id":"b"}"#, invalid),
        case(
            "a huge body",
            vec![b' '; 3 * 1024 * 1024],
            StatusCode::PAYLOAD_TOO_LARGE,
        ),
    ]
}

fn invalid() -> Vec<Case> {
    vec![
        changed("a missing id", "id", Json::Null, "/id"),
        changed("a missing title", "title", Json::Null, "/title"),
        changed("an unknown member", "colour", json!("red"), "/colour"),
        changed("an id that is not a UUID", "id", json!("42"), "/id"),
        changed("an id that is a number", "id", json!(42), "/id"),
        changed("an id that climbs", "id", json!("../../etc"), "/id"),
        changed("pages as a text", "numPages", json!("12"), "/numPages"),
        changed("pages with a fraction", "numPages", json!(1.5), "/numPages"),
        changed("no pages", "numPages", json!(0), "/numPages"),
        changed(
            "more pages than a number holds",
            "numPages",
            json!(u64::MAX),
            "/numPages",
        ),
        changed("a title that is an object", "title", json!({}), "/title"),
        changed("a blank title", "title", json!(" \t "), "/title"),
        changed("a long title", "title", json!("x".repeat(501)), "/title"),
        changed("a control character", "title", json!("a\u{0}b"), "/title"),
        changed("a line break", "author", json!("a\nb"), "/author"),
        changed("letters in an ISBN", "isbn", json!("no isbn"), "/isbn"),
        changed("a long ISBN", "isbn", json!("1".repeat(33)), "/isbn"),
    ]
}

#[tokio::test]
async fn every_bad_body_is_a_clear_problem() {
    let library = RunningService::start();
    for Case {
        name,
        body,
        status,
        pointer,
    } in malformed().into_iter().chain(invalid())
    {
        let response = purchase(&library, &[JSON], body).await;
        assert_eq!(response.status, status, "{name}");
        let problem = problem_of(name, &response);
        if let Some(pointer) = pointer {
            let error = &problem["errors"][0];
            assert_eq!(error["pointer"], pointer, "{name}: {problem}");
            assert!(!error["message"].as_str().unwrap().is_empty());
        }
    }
    still_works(&library).await;
}

#[tokio::test]
async fn every_bad_method_or_header_is_a_clear_problem() {
    let library = RunningService::start();
    for method in [Method::GET, Method::PUT, Method::DELETE, Method::PATCH] {
        let request = Request::builder().method(&method).uri("/books/purchase");
        let response = send(&library, request.body(Body::empty()).unwrap()).await;
        assert_eq!(response.status, StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert!(response.header("allow").unwrap().contains("POST"));
        problem_of(method.as_str(), &response);
    }
    let body = || book(Uuid::new_v4()).to_string();
    for content_type in [
        "text/plain",
        "application/xml",
        "application/x-www-form-urlencoded",
        "\u{fc}",
    ] {
        let headers = [(header::CONTENT_TYPE, content_type)];
        let response = purchase(&library, &headers, body()).await;
        assert_eq!(response.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        problem_of(content_type, &response);
    }
    let untyped = purchase(&library, &[], body()).await;
    assert_eq!(untyped.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    for encoding in ["gzip", "br", "identity, gzip"] {
        let headers = [JSON, (header::CONTENT_ENCODING, encoding)];
        let response = purchase(&library, &headers, body()).await;
        assert_eq!(response.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        problem_of(encoding, &response);
    }
    still_works(&library).await;
}

#[tokio::test]
async fn every_bad_path_or_parameter_is_a_clear_problem() {
    let library = RunningService::start();
    for (path, status) in [
        ("/nothing", StatusCode::NOT_FOUND),
        ("/books/../etc/passwd", StatusCode::NOT_FOUND),
        ("/books/%2e%2e%2f", StatusCode::NOT_FOUND),
        ("/books/%ff", StatusCode::NOT_FOUND),
        ("/books?limit=0", StatusCode::BAD_REQUEST),
        ("/books?limit=-1", StatusCode::BAD_REQUEST),
        (
            "/books?limit=999999999999999999999",
            StatusCode::BAD_REQUEST,
        ),
        ("/books?cursor=%00", StatusCode::BAD_REQUEST),
        ("/books?title=%ff", StatusCode::BAD_REQUEST),
        ("/books?%zz", StatusCode::BAD_REQUEST),
    ] {
        let response = library.client.get(path).await.unwrap();
        assert_eq!(response.status, status, "{path}");
        problem_of(path, &response);
    }
    let id = uuid::Uuid::nil();
    for (path, method, status) in [
        ("/books/%ff/borrow", Method::POST, StatusCode::NOT_FOUND),
        ("/books/%c3%28/return", Method::POST, StatusCode::NOT_FOUND),
        ("/console/events/%ff", Method::GET, StatusCode::NOT_FOUND),
        ("/console/rows/%ff/1", Method::GET, StatusCode::NOT_FOUND),
        (
            "/actuator/projections/%ff/retry",
            Method::POST,
            StatusCode::NOT_FOUND,
        ),
        ("/docs", Method::POST, StatusCode::METHOD_NOT_ALLOWED),
        ("/docs/main.js", Method::PUT, StatusCode::METHOD_NOT_ALLOWED),
        ("/", Method::POST, StatusCode::METHOD_NOT_ALLOWED),
        ("/console", Method::DELETE, StatusCode::METHOD_NOT_ALLOWED),
        (
            &format!("/books/{id}"),
            Method::PUT,
            StatusCode::METHOD_NOT_ALLOWED,
        ),
    ] {
        let request = Request::builder().method(method.clone()).uri(path);
        let response = send(&library, request.body(Body::empty()).unwrap()).await;
        assert_eq!(response.status, status, "{method} {path}");
        problem_of(path, &response);
    }
    for (position, status) in [
        ("x", StatusCode::BAD_REQUEST),
        ("-1", StatusCode::BAD_REQUEST),
        ("99999999999999999999", StatusCode::BAD_REQUEST),
        // Nobody waits for an event that the store does not have.
        ("7", StatusCode::PRECONDITION_FAILED),
    ] {
        let request = Request::get("/books").header("event-position", position);
        let response = send(&library, request.body(Body::empty()).unwrap()).await;
        assert_eq!(response.status, status, "{position}");
        problem_of(position, &response);
    }
    still_works(&library).await;
}

#[tokio::test]
async fn a_wrong_parameter_is_named() {
    let library = RunningService::start();
    for (path, status, words) in [
        ("/books?titel=x", 400, "titel is unknown"),
        ("/books?isLent=maybe", 400, "isLent must be true or false"),
        ("/books?limit=0", 400, "limit must be"),
        ("/books?title=a&title=b", 400, "title is given twice"),
        ("/books/not-a-uuid", 404, ""),
    ] {
        let answer = library.client.get(path).await.unwrap();
        assert_eq!(answer.status, status, "{path}");
        let problem = problem_of(path, &answer);
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(words), "{detail}");
    }
}

#[tokio::test]
async fn a_filter_or_a_cursor_made_by_an_attacker_is_a_clear_problem() {
    let library = RunningService::start();
    let cursor = |text: &str| {
        let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
        format!("cursor={hex}")
    };
    let nested = format!("{{\"own\":{}{}}}", "[".repeat(200), "]".repeat(200));
    let (long, malformed, other) = (
        "more than 1000 characters",
        "must be the nextCursor",
        "belongs to another query",
    );
    for (parameter, detail) in [
        (format!("title={}", "a".repeat(1_001)), long),
        (format!("cursor={}", "0".repeat(1_001)), long),
        (cursor(&nested), malformed),
        (cursor(r#"{"place":1,"by":1e400}"#), malformed),
        (cursor(r#"{"place":1e10}"#), malformed),
        (cursor(r#"{"place":1,"by":"x"}"#), other),
        (cursor(r#"{"own":["x"]}"#), other),
    ] {
        let response = library
            .client
            .get(&format!("/books?{parameter}"))
            .await
            .unwrap();
        assert_eq!(response.status, StatusCode::BAD_REQUEST, "{parameter}");
        let problem = problem_of(&parameter, &response);
        let found = problem["detail"].as_str().unwrap();
        assert!(found.contains(detail), "{parameter}: {found}");
    }
    // The first and the last position are cursors like any other.
    for position in [i64::MIN, i64::MAX] {
        let parameter = cursor(&format!("{{\"place\":{position}}}"));
        let response = library
            .client
            .get(&format!("/books?{parameter}"))
            .await
            .unwrap();
        assert_eq!(response.status, StatusCode::OK, "{position}");
    }
    still_works(&library).await;
}

#[tokio::test]
async fn what_is_no_http_costs_a_connection_and_nothing_else() {
    let library = RunningService::start();
    let address = library.url.strip_prefix("http://").unwrap();
    let huge_header = format!(
        "GET / HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n",
        "x".repeat(1 << 20)
    );
    let many_headers = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(10_000));
    let lying_length = "POST /books/purchase HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99999999999999999999\r\n\r\n";
    let smuggling = "POST /books/purchase HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n";
    for bytes in [
        "\0\0\0\0\r\n\r\n",
        "GET\r\n\r\n",
        &huge_header,
        &many_headers,
        lying_length,
        smuggling,
    ] {
        let mut stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let _ = stream.write_all(bytes.as_bytes());
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        assert!(!answer.starts_with("HTTP/1.1 5"), "{answer}");
    }
    still_works(&library).await;
}

#[tokio::test]
async fn a_request_has_exactly_one_host() {
    let library = RunningService::start();
    for (head, status) in [
        ("GET /books HTTP/1.1\r\n", 400),
        ("GET /books HTTP/1.1\r\nhost: a\r\nhost: b\r\n", 400),
        ("GET /books HTTP/1.1\r\nhost: a\r\nhost: a\r\n", 400),
        ("GET /docs HTTP/1.1\r\n", 400),
        ("GET /books HTTP/1.0\r\nhost: a\r\nhost: a\r\n", 400),
        ("GET /books HTTP/1.0\r\n", 200),
        ("GET /books HTTP/1.1\r\nhost: localhost\r\n", 200),
    ] {
        let request = format!("{head}connection: close\r\n\r\n");
        let response = raw_http::send(&library.url, request).unwrap();
        assert_eq!(response.status, status, "{head}");
        if status == 400 {
            assert_eq!(response.problem(), "invalid-header");
        }
    }
}

#[tokio::test]
async fn texts_are_stored_unchanged() {
    let library = RunningService::start();
    let mut given = book(Uuid::new_v4());
    given["title"] = "  Größe & <Zeit> \"😀\" \u{2028} \\ ".into();
    given["isbn"] = "0-345-53943-X".into();
    given["numPages"] = i64::MAX.into();
    assert_eq!(library.purchase(&given).await.status, 201);
    let [stored] = library.stored_events().await.try_into().unwrap();
    let data: Json = serde_json::from_str(stored.data.get()).unwrap();
    assert_eq!(data["payload"], given);
    let position = header::HeaderName::from_static("event-position");
    let client = library.client.clone().with_header(position, "0");
    let stock: Json = client.get("/books").await.unwrap().json().unwrap();
    for (name, value) in given.as_object().unwrap() {
        assert_eq!(&stock["items"][0][name], value, "{name}");
    }
}
