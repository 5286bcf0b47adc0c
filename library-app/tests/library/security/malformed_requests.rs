//! Malformed requests receive a problem and never fail the service.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use crate::support::{Library, book, client, get, json_of, raw_http};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

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
fn changed(name: &'static str, member: &str, value: Value, pointer: &'static str) -> Case {
    let mut book = book(Uuid::new_v4());
    match value {
        Value::Null => book.as_object_mut().unwrap().remove(member),
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
        changed("a missing id", "id", Value::Null, "/id"),
        changed("a missing title", "title", Value::Null, "/title"),
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
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let url = format!("{}/books/purchase", library.url);
    for Case {
        name,
        body,
        status,
        pointer,
    } in malformed().into_iter().chain(invalid())
    {
        let request = client()
            .post(&url)
            .header("content-type", "application/json");
        let answer = request.body(body).send().await.unwrap();
        assert_eq!(answer.status(), status, "{name}");
        let problem = problem_of(name, answer).await;
        if let Some(pointer) = pointer {
            assert_eq!(
                problem["errors"][0]["pointer"], pointer,
                "{name}: {problem}"
            );
            assert!(!problem["errors"][0]["message"].as_str().unwrap().is_empty());
        }
    }
    assert!(
        library.stored_lines().await.is_empty(),
        "nothing of all this was stored"
    );
    still_works(&library).await;
}

async fn problem_of(name: &str, answer: reqwest::Response) -> Value {
    assert_eq!(
        answer.headers()["content-type"],
        "application/problem+json",
        "{name}"
    );
    let status = answer.status().as_u16();
    let problem = json_of(answer).await;
    assert_eq!(problem["status"], status, "{name}");
    for member in ["type", "title", "detail"] {
        assert!(
            problem[member]
                .as_str()
                .is_some_and(|text| !text.is_empty()),
            "{name}: {problem}"
        );
    }
    problem
}

async fn still_works(library: &Library) {
    assert_eq!(
        library.purchase(&book(Uuid::new_v4())).await.status(),
        StatusCode::CREATED
    );
    assert_eq!(library.health().await.0, StatusCode::OK);
    assert!(
        !library.process.log().contains("panicked"),
        "{}",
        library.process.log()
    );
}

#[tokio::test]
async fn every_bad_request_line_or_header_is_a_clear_problem() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let url = |path: &str| format!("{}{path}", library.url);
    for method in [Method::GET, Method::PUT, Method::DELETE, Method::PATCH] {
        let answer = client()
            .request(method.clone(), url("/books/purchase"))
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert!(
            answer.headers()["allow"].to_str().unwrap().contains("POST"),
            "{method}"
        );
        problem_of(method.as_str(), answer).await;
    }
    for content_type in [
        "text/plain",
        "application/xml",
        "application/x-www-form-urlencoded",
        "\u{fc}",
    ] {
        let request = client()
            .post(url("/books/purchase"))
            .header("content-type", content_type);
        let answer = request
            .body(book(Uuid::new_v4()).to_string())
            .send()
            .await
            .unwrap();
        assert_eq!(
            answer.status(),
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "{content_type}"
        );
        problem_of(content_type, answer).await;
    }
    let untyped = client()
        .post(url("/books/purchase"))
        .body(book(Uuid::new_v4()).to_string());
    assert_eq!(
        untyped.send().await.unwrap().status(),
        StatusCode::UNSUPPORTED_MEDIA_TYPE
    );
    still_works(&library).await;
}

#[tokio::test]
async fn every_bad_path_or_parameter_is_a_clear_problem() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let url = |path: &str| format!("{}{path}", library.url);
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
        let answer = get(&url(path)).await;
        assert_eq!(answer.status(), status, "{path}");
        problem_of(path, answer).await;
    }
    for position in ["x", "-1", "99999999999999999999"] {
        let request = client()
            .get(url("/books"))
            .header("event-position", position);
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{position}");
    }
    still_works(&library).await;
}

#[tokio::test]
async fn a_filter_or_a_cursor_made_by_an_attacker_is_a_clear_problem() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let cursor = |text: &str| {
        let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
        format!("cursor={hex}")
    };
    let nested = format!("{{\"own\":{}{}}}", "[".repeat(200), "]".repeat(200));
    for (parameter, told) in [
        (
            format!("title={}", "a".repeat(1_001)),
            "more than 1000 characters",
        ),
        (
            format!("cursor={}", "0".repeat(1_001)),
            "more than 1000 characters",
        ),
        (cursor(&nested), "must be the nextCursor"),
        (
            cursor(r#"{"place":1,"by":1e400}"#),
            "must be the nextCursor",
        ),
        (cursor(r#"{"place":1e10}"#), "must be the nextCursor"),
        (
            cursor(r#"{"place":1,"by":"x"}"#),
            "belongs to another query",
        ),
        (cursor(r#"{"own":["x"]}"#), "belongs to another query"),
    ] {
        let answer = get(&format!("{}/books?{parameter}", library.url)).await;
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{parameter}");
        let problem = problem_of(&parameter, answer).await;
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(told), "{parameter}: {detail}");
    }
    // The first and the last position are cursors like any other.
    for position in [i64::MIN, i64::MAX] {
        let parameter = cursor(&format!("{{\"place\":{position}}}"));
        let answer = get(&format!("{}/books?{parameter}", library.url)).await;
        assert_eq!(answer.status(), StatusCode::OK, "{position}");
    }
    still_works(&library).await;
}

#[tokio::test]
async fn nobody_waits_for_an_event_that_there_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let request = client()
        .get(format!("{}/books", library.url))
        .header("event-position", "7");
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::PRECONDITION_FAILED);
    problem_of("position", answer).await;
}

#[tokio::test]
async fn what_is_no_http_costs_a_connection_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
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
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
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
async fn a_compressed_body_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let purchase = |encoding: &str| {
        client()
            .post(format!("{}/books/purchase", library.url))
            .header("content-type", "application/json")
            .header("content-encoding", encoding)
            .body(book(Uuid::new_v4()).to_string())
            .send()
    };
    for encoding in ["gzip", "br", "identity, gzip"] {
        let answer = purchase(encoding).await.unwrap();
        assert_eq!(answer.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
        problem_of(encoding, answer).await;
    }
    let plain = purchase("identity").await.unwrap();
    assert_eq!(plain.status(), StatusCode::CREATED);
}

#[tokio::test]
async fn texts_are_stored_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let mut given = book(Uuid::new_v4());
    given["title"] = "  Größe & <Zeit> \"😀\" \u{2028} \\ ".into();
    given["isbn"] = "0-345-53943-X".into();
    given["numPages"] = i64::MAX.into();
    assert_eq!(library.purchase(&given).await.status(), StatusCode::CREATED);
    let [stored] = library.stored_lines().await.try_into().unwrap();
    assert_eq!(stored["payload"]["event"]["data"]["payload"], given);
    let request = client()
        .get(format!("{}/books", library.url))
        .header("event-position", "0");
    let stock = json_of(request.send().await.unwrap()).await;
    for (name, value) in given.as_object().unwrap() {
        assert_eq!(&stock["items"][0][name], value, "{name}");
    }
}
