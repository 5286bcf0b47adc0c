//! Tests of the routes, without a socket.

mod access;
mod commands;
mod eventql;

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, HeaderValue, Request, StatusCode, header},
};
use es_catalog::model::ApplicationModel;
use es_event::{EventCandidate, EventType, Metadata, TraceContext, Upcasters, encode};
use es_eventql::QueryLimits;
use es_read::projection::{Database, ReadModels};
use es_store::{EventLog, memory::MemoryStore};
use es_subscribe::{
    ProgressRegistry,
    operator::{ComponentKind, OperatorClient},
};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::{Console, ConsoleLink, SessionLog, router};

const TYPE: &str = "com.example.library.BookPurchasedEvent";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

/// A console over a store in memory.
struct TestConsole {
    store: Arc<MemoryStore>,
    router: Router,
    /// The session of the browser that opened the link of an open application.
    session: Option<HeaderValue>,
}

const LINK_KEY: &str = "key-of-the-link";

impl TestConsole {
    async fn new(is_open: bool) -> Self {
        let store = Arc::new(MemoryStore::new());
        let operator = |kind| OperatorClient::with_shared_queue(kind, std::iter::empty()).0;
        let console = Console {
            name: "library-service",
            store: store.clone(),
            state_store: store.clone(),
            catalog: store.clone(),
            upcasters: Upcasters::default(),
            model: ApplicationModel {
                nodes: commands::declarations(),
                ..ApplicationModel::default()
            },
            states: vec![],
            snapshots: None,
            query_limits: QueryLimits::DEFAULT,
            read_models: ProgressRegistry::default(),
            models: ReadModels::default(),
            database: Database::in_memory(&ReadModels::default()).await.unwrap(),
            reactions: ProgressRegistry::default(),
            read_model_operator: operator(ComponentKind::ReadModel),
            reaction_operator: operator(ComponentKind::Reaction),
            session_log: SessionLog {
                store: store.clone(),
                source: "library-service".into(),
            },
            link: is_open.then(|| ConsoleLink::new(LINK_KEY).unwrap()),
            operator_token: Some("secret".parse().unwrap()),
            personal_data: None,
            is_tls: false,
            shutdown: CancellationToken::new(),
        };
        let mut console = Self {
            store,
            router: router(console),
            session: None,
        };
        if is_open {
            console.session = Some(console.open_link(LINK_KEY).await.unwrap());
        }
        console
    }

    /// Opens the link of the start. Returns the cookie of the session.
    async fn open_link(&self, key: &str) -> Result<HeaderValue, StatusCode> {
        let path = format!("/console/open?key={key}");
        let request = Request::get(path).body(Body::empty()).unwrap();
        let (status, headers, _) = self.send(request).await;
        let cookie = headers.get(header::SET_COOKIE).ok_or(status)?;
        assert_eq!(status, StatusCode::SEE_OTHER);
        let cookie = cookie.to_str().unwrap().split(';').next().unwrap();
        Ok(HeaderValue::from_str(cookie).unwrap())
    }

    async fn record(&self, subject: &str, payload: Value) {
        self.record_all(subject, [payload]).await;
    }

    async fn record_all(&self, subject: &str, payloads: impl IntoIterator<Item = Value>) {
        let trace = format!("00-{TRACE}-b7ad6b7169203331-01");
        let trace = TraceContext::new(Some(&trace), None).unwrap();
        let candidate = |payload| EventCandidate {
            source: "library-service".into(),
            subject: subject.parse().unwrap(),
            event_type: EventType::declared(TYPE),
            data: encode(&Metadata::default().with("caller", "<i>ada</i>"), &payload).unwrap(),
            trace: trace.clone(),
        };
        let candidates = payloads.into_iter().map(candidate).collect();
        self.store.append(candidates, vec![]).await.unwrap();
    }

    async fn send(&self, request: Request<Body>) -> (StatusCode, HeaderMap, String) {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (
            head.status,
            head.headers,
            String::from_utf8(body.to_vec()).unwrap(),
        )
    }

    /// Returns a request of the browser that opened the link.
    fn with_session(&self, mut request: Request<Body>) -> Request<Body> {
        if let Some(session) = &self.session {
            let headers = request.headers_mut();
            headers.insert(header::COOKIE, session.clone());
        }
        request
    }

    async fn get(&self, path: &str) -> (StatusCode, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let request = self.with_session(request);
        let (status, _, page) = self.send(request).await;
        (status, page)
    }

    async fn page(&self, path: &str) -> String {
        let (status, page) = self.get(path).await;
        assert_eq!(status, StatusCode::OK, "{path}: {page}");
        page
    }
}

fn form(path: &str) -> axum::http::request::Builder {
    Request::post(path).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
}

#[tokio::test]
async fn every_page_forbids_inline_scripts() {
    let console = TestConsole::new(true).await;
    let session = console.session.clone().unwrap();
    let request = Request::get("/console").header(header::COOKIE, session);
    let (_, headers, page) = console.send(request.body(Body::empty()).unwrap()).await;
    let policy = headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(
        policy.starts_with("default-src 'none'") && !policy.contains("unsafe"),
        "{policy}"
    );
    assert_eq!(headers[header::CACHE_CONTROL], "no-store");
    for path in page.split("=\"/console/assets/").skip(1) {
        let path = path.split('"').next().unwrap();
        let file = console.page(&format!("/console/assets/{path}")).await;
        assert!(!file.is_empty());
    }
    assert!(!page.contains("style=") && !page.contains("onclick"));
}

#[tokio::test]
async fn events_are_filtered_and_paged() {
    let console = TestConsole::new(true).await;
    let books = (0..120).map(|number| json!({ "title": format!("Book {number}") }));
    console.record_all("/books/1", books).await;
    console
        .record("/readers/ada", json!({ "name": "Ada" }))
        .await;
    let newest = console.page("/console").await;
    assert!(newest.contains("Ada") && newest.contains("Book 119") && !newest.contains("Book 70<"));
    assert!(newest.contains("?before=71\""), "{newest}");
    let older = console.page("/console?before=71").await;
    assert!(older.contains("Book 70") && !older.contains("Ada"));
    assert!(
        !older.contains("id=\"live\""),
        "only the newest page is live"
    );
    let of_reader = console.page("/console?subject=/readers").await;
    assert!(of_reader.contains("Ada") && !of_reader.contains("Book 1"));
    assert!(
        !console
            .page("/console?subject=/readers&exact=1")
            .await
            .contains("Ada")
    );
    let found = console
        .page("/console?text=BOOK+7&type=BookPurchasedEvent")
        .await;
    assert!(found.contains("Book 79") && found.contains("Book 7<") && !found.contains("Book 80"));
    assert!(found.contains("Searched 121 events"), "{found}");
    let of_trace = console
        .page(&format!("/console?trace={TRACE}&before=3"))
        .await;
    assert!(of_trace.contains("Book 2"));
    assert!(
        console
            .page("/console?to=2000-01-01")
            .await
            .contains("No event matches")
    );
    let all = console
        .page("/console?from=2000-01-01T00:00&to=2999-01-01")
        .await;
    assert!(all.contains("Ada"));
    assert!(
        console
            .page("/console?trace=x")
            .await
            .contains("32 hexadecimal digits")
    );
}

#[tokio::test]
async fn a_search_says_how_many_events_it_has_read() {
    let console = TestConsole::new(true).await;
    console
        .record("/books/1", json!({ "title": "needle" }))
        .await;
    let hay = || (0..6_000).map(|_| json!({}));
    console.record_all("/books/1", hay()).await;
    console.record_all("/books/1", hay()).await;
    let page = console.page("/console?text=needle").await;
    assert!(
        page.contains("Searched 10,000 events") && page.contains("No event matches"),
        "{page}"
    );
    assert!(page.contains("Continue with older events"));
    let next = page.split("rel=\"next\" href=\"").nth(1).unwrap();
    let next = next.split('"').next().unwrap().replace("&amp;", "&");
    assert!(console.page(&next).await.contains("#event-0"));
}

#[tokio::test]
async fn an_event_is_shown_with_its_verified_hash() {
    let console = TestConsole::new(true).await;
    console
        .record("/books/1", json!({ "title": "The Hobbit" }))
        .await;
    console.record("/books/1", json!({ "title": "Emma" })).await;
    let page = console.page("/console/events/1").await;
    assert!(page.contains("continues event 0") && page.contains(TRACE));
    assert!(page.contains("&lt;i&gt;ada&lt;/i&gt;") && !page.contains("<i>ada"));
    assert!(page.contains("Events of the same trace") && page.contains("Hobbit"));
    assert!(
        console
            .page("/console/events/0")
            .await
            .contains("this is the first event")
    );
    assert_eq!(
        console.get("/console/events/7").await.0,
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        console.get("/console/events/-1").await.0,
        StatusCode::BAD_REQUEST
    );
}

#[tokio::test]
async fn hostile_data_stays_text_and_pages_stay_small() {
    let console = TestConsole::new(true).await;
    let payload = json!({
        "<script>alert(1)</script>": "</code></pre><img src=x onerror=alert(1)>",
        "control": "\0\u{1b}[31m\r\n",
        "direction": "\u{202e}txt.exe\u{2066}",
        "long": "x".repeat(1_000_000),
        "many": vec![0; 50_000],
    });
    console.record("/books/1", payload).await;
    for path in ["/console", "/console/subjects/books/1", "/console/events/0"] {
        let page = console.page(path).await;
        assert!(
            !page.contains("<script>alert") && !page.contains("<img src=x"),
            "{path}"
        );
        assert!(
            !page.contains(['\0', '\u{1b}', '\u{202e}', '\u{2066}']),
            "{path}"
        );
        assert!(page.contains("\\u{202e}"), "{path}");
        let most = if path.contains("events") {
            2_000_000
        } else {
            40_000
        };
        assert!(page.len() < most, "{path}: {}", page.len());
    }
    assert!(console.page("/console").await.contains("1 MB"));
    let filter = "/console?text=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&subject=%22%3E%3Cb%3E";
    assert!(!console.page(filter).await.contains("<script>alert"));
}

#[tokio::test]
async fn the_overview_counts_the_events_of_the_last_hour() {
    let console = TestConsole::new(true).await;
    assert!(
        console
            .page("/console/overview")
            .await
            .contains("0 events, at most 0")
    );
    console
        .record_all("/books/1", (0..1_200).map(|_| json!({})))
        .await;
    let page = console.page("/console/overview").await;
    assert!(
        page.contains("1,200 events, at most 1,200 in 2 minutes"),
        "{page}"
    );
    // 30 bars of events, and 60 minutes with the times and the conflicts of commands.
    assert_eq!(page.matches("class=\"part\"").count(), 150);
}

#[tokio::test]
async fn the_tree_of_subjects_is_paged() {
    let console = TestConsole::new(true).await;
    for number in 0..130 {
        console
            .record(&format!("/books/{number:03}/pages/1"), json!({}))
            .await;
    }
    let root = console.page("/console/subjects").await;
    assert!(root.contains("href=\"/console/subjects/books\""), "{root}");
    let books = console.page("/console/subjects/books").await;
    assert!(books.contains("/books/099\"") && !books.contains("/books/100\""));
    assert!(books.contains("?after=/books/099"), "{books}");
    let rest = console
        .page("/console/subjects/books?after=/books/099")
        .await;
    assert!(rest.contains("/books/100\"") && rest.contains("/books/129\""));
    assert_eq!(
        console.get("/console/subjects/nothing").await.0,
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        console.get("/console/subjects/a%20b").await.0,
        StatusCode::BAD_REQUEST
    );
}

#[tokio::test]
async fn too_many_streams_are_refused() {
    let console = TestConsole::new(true).await;
    let mut open = Vec::new();
    for _ in 0..16 {
        let request = Request::get("/console/events/live").body(Body::empty());
        let request = console.with_session(request.unwrap());
        let response = console.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        open.push(response);
    }
    assert_eq!(
        console.get("/console/events/live").await.0,
        StatusCode::SERVICE_UNAVAILABLE
    );
    open.pop();
    let request = Request::get("/console/events/live").body(Body::empty());
    let request = console.with_session(request.unwrap());
    let response = console.router.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_has_events_which_a_restored_store_lacks_receives_new_ones() {
    let console = TestConsole::new(true).await;
    console.record("/books/1", json!({})).await;
    let request = Request::get("/console/events/live")
        .header("last-event-id", "999")
        .body(Body::empty());
    let request = console.with_session(request.unwrap());
    let response = console.router.clone().oneshot(request).await.unwrap();
    let mut stream = response.into_body();
    let written = async {
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;
        console.record("/books/2", json!({})).await;
    };
    let received = async {
        loop {
            let frame = stream.frame().await.unwrap().unwrap();
            let text = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
            if text.contains("data:") {
                return text;
            }
        }
    };
    let received = tokio::time::timeout(std::time::Duration::from_secs(60), received);
    let ((), received) = tokio::join!(written, received);
    let received = received.expect("a new row comes");
    assert!(
        received.contains("/books/2") && !received.contains("/books/1"),
        "{received}"
    );
}
