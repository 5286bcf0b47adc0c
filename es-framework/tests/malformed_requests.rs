//! Malformed requests receive a problem and change nothing. The requests reach the application in process.

// Functions that tests share also fail by panicking.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::sync::Arc;

use es_framework::{
    App, Application, ClientResponse,
    axum::{
        body::Body,
        http::{HeaderValue, Method, Request, StatusCode, header},
    },
    event::Subject,
    prelude::*,
    store::{EventStore, ReadOptions, memory::MemoryStore},
};
use futures_util::StreamExt as _;
use serde_json::{Value as Json, json};

/// Adds a new copy of a book to the inventory.
#[derive(Command)]
#[command(subject = "/books/{id}", condition = pristine)]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(text(max = 32), pattern("^[0-9Xx -]+$"))]
    isbn: String,
    #[validate(text(max = 500))]
    title: String,
    #[validate(text(max = 500))]
    author: String,
    #[validate(range(min = 1))]
    num_pages: i64,
}

#[derive(Event)]
#[event(from = PurchaseBookCommand)]
struct BookPurchasedEvent {
    id: Uuid,
    isbn: String,
    title: String,
    author: String,
    num_pages: i64,
}

#[handler]
fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent;

/// A copy of a book.
#[derive(ReadModel)]
#[read_model(table = "book_copies", subject = "/books/{id}")]
struct BookCopy {
    #[key]
    id: Uuid,
    title: String,
}

#[projection]
impl BookCopy {
    fn purchased(event: &BookPurchasedEvent) -> Self {
        Self {
            id: event.id,
            title: event.title.clone(),
        }
    }
}

/// Browses the stock.
#[derive(Query)]
#[query(path = "/books", rows = BookCopy)]
struct BrowseStock {
    #[filter(contains)]
    title: Option<String>,
}

/// A running application and its event store.
struct Library {
    application: Application,
    store: MemoryStore,
}

impl Library {
    async fn open() -> Self {
        let store = MemoryStore::new();
        let app = App::new("library-service").event_store(Arc::new(store.clone()));
        let application = app.build().await.unwrap();
        Self { application, store }
    }

    async fn send(&self, request: Request<Body>) -> ClientResponse {
        self.application.client().send(request).await.unwrap()
    }

    async fn get(&self, path: &str) -> ClientResponse {
        self.send(Request::get(path).body(Body::empty()).unwrap())
            .await
    }

    /// Sends a purchase with these headers.
    async fn purchase(
        &self,
        headers: &[(header::HeaderName, &str)],
        body: impl Into<Vec<u8>>,
    ) -> ClientResponse {
        let body = body.into();
        let mut request = Request::post("/books/purchase");
        request = request.header(header::CONTENT_LENGTH, body.len());
        for (name, value) in headers {
            request = request.header(name, HeaderValue::try_from(*value).unwrap());
        }
        self.send(request.body(body.into()).unwrap()).await
    }

    /// Carries out a purchase after the malformed requests, none of which stored anything, and ends.
    async fn still_works(self) {
        let stored = self.store.read(Subject::root(), ReadOptions::recursive());
        assert_eq!(stored.count().await, 0);
        let body = book(Uuid::new_v4()).to_string();
        let response = self.purchase(&[JSON], body).await;
        assert_eq!(response.status, StatusCode::CREATED, "{}", response.text());
        assert_eq!(self.get("/actuator/health").await.status, StatusCode::OK);
        self.application.shutdown().await;
    }
}

const JSON: (header::HeaderName, &str) = (header::CONTENT_TYPE, "application/json");

fn book(id: Uuid) -> Json {
    json!({
        "id": id,
        "isbn": "978-0-345-53943-1",
        "title": "The Lord of the Rings",
        "author": "J. R. R. Tolkien",
        "numPages": 1178,
    })
}

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
    let library = Library::open().await;
    for Case {
        name,
        body,
        status,
        pointer,
    } in malformed().into_iter().chain(invalid())
    {
        let response = library.purchase(&[JSON], body).await;
        assert_eq!(response.status, status, "{name}");
        let problem = problem_of(name, &response);
        if let Some(pointer) = pointer {
            let error = &problem["errors"][0];
            assert_eq!(error["pointer"], pointer, "{name}: {problem}");
            assert!(!error["message"].as_str().unwrap().is_empty());
        }
    }
    library.still_works().await;
}

#[tokio::test]
async fn every_bad_method_or_header_is_a_clear_problem() {
    let library = Library::open().await;
    for method in [Method::GET, Method::PUT, Method::DELETE, Method::PATCH] {
        let request = Request::builder().method(&method).uri("/books/purchase");
        let response = library.send(request.body(Body::empty()).unwrap()).await;
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
        let response = library.purchase(&headers, body()).await;
        assert_eq!(response.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        problem_of(content_type, &response);
    }
    let untyped = library.purchase(&[], body()).await;
    assert_eq!(untyped.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    for encoding in ["gzip", "br", "identity, gzip"] {
        let headers = [JSON, (header::CONTENT_ENCODING, encoding)];
        let response = library.purchase(&headers, body()).await;
        assert_eq!(response.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        problem_of(encoding, &response);
    }
    library.still_works().await;
}

#[tokio::test]
async fn every_bad_path_or_parameter_is_a_clear_problem() {
    let library = Library::open().await;
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
        let response = library.get(path).await;
        assert_eq!(response.status, status, "{path}");
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
        let response = library.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(response.status, status, "{position}");
        problem_of(position, &response);
    }
    library.still_works().await;
}

#[tokio::test]
async fn a_filter_or_a_cursor_made_by_an_attacker_is_a_clear_problem() {
    let library = Library::open().await;
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
        let response = library.get(&format!("/books?{parameter}")).await;
        assert_eq!(response.status, StatusCode::BAD_REQUEST, "{parameter}");
        let problem = problem_of(&parameter, &response);
        let found = problem["detail"].as_str().unwrap();
        assert!(found.contains(detail), "{parameter}: {found}");
    }
    // The first and the last position are cursors like any other.
    for position in [i64::MIN, i64::MAX] {
        let parameter = cursor(&format!("{{\"place\":{position}}}"));
        let response = library.get(&format!("/books?{parameter}")).await;
        assert_eq!(response.status, StatusCode::OK, "{position}");
    }
    library.still_works().await;
}
