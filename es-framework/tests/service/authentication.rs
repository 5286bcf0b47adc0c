//! Bearer tokens of a file: who proves nothing gets nothing, whatever is asked.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use es_framework::{ClientResponse, Settings, axum::http::HeaderName};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use crate::{
    http_client::{client, get, json_of},
    raw_http,
    running_service::{RunningService, book},
};

pub(crate) const ALICE: &str = "alices-token-0123456789";
pub(crate) const BOB: &str = "bobs-token-0123456789";

/// The lines of the file, with the hashes of the tokens.
const ALICES_LINE: &str =
    "alice staff e1dc48dd32c1279809be47278c1bf121cd216d2b3507e1afdfe6ea5d9046f2f0\n";
const BOBS_LINE: &str = "bob - 4ab7d2fc7d4cc14c1839d2c190560814bcbf442fe91d50474d659000440fa7f1\n";

/// A service that knows Alice and Bob.
pub(crate) struct GuardedService {
    pub(crate) library: RunningService,
    tokens: PathBuf,
    _folder: TempDir,
}

impl GuardedService {
    pub(crate) fn start() -> Self {
        Self::start_with(Settings::default())
    }

    /// The same with these settings.
    pub(crate) fn start_with(settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tokens = folder.path().join("tokens");
        fs::write(&tokens, [ALICES_LINE, BOBS_LINE].concat()).unwrap();
        fs::set_permissions(&tokens, fs::Permissions::from_mode(0o600)).unwrap();
        let settings = settings.auth_tokens_file(Some(tokens.clone()));
        Self {
            library: RunningService::start_with(settings),
            tokens,
            _folder: folder,
        }
    }

    /// Purchases a copy with these credentials.
    async fn purchase(&self, authorization: &[&str]) -> Response {
        let mut request = client()
            .post(format!("{}/books/purchase", self.library.url))
            .header("content-type", "application/json")
            .body(book(Uuid::new_v4()).to_string());
        for value in authorization {
            request = request.header("authorization", *value);
        }
        request.send().await.unwrap()
    }

    async fn open_stream(&self, token: &str) -> Response {
        let request = client().get(format!("{}/books", self.library.url));
        let request = request.header("accept", "text/event-stream");
        request.bearer_auth(token).send().await.unwrap()
    }
}

#[tokio::test]
async fn an_idempotency_key_belongs_to_its_caller() {
    let guarded = GuardedService::start();
    let callers = [(ALICE, Uuid::new_v4()), (BOB, Uuid::new_v4())];
    let purchase = async |token: &str, id: Uuid| -> ClientResponse {
        let header = HeaderName::from_static("idempotency-key");
        let client = guarded.library.client.clone().with_bearer(token);
        let client = client.with_header(header, "monday-1");
        client.post("/books/purchase", &book(id)).await.unwrap()
    };
    for _ in 0..2 {
        for (token, id) in callers {
            let answer = purchase(token, id).await;
            assert_eq!(answer.status, 201);
            let location = format!("/books/{id}");
            assert_eq!(answer.header("location"), Some(location.as_str()));
        }
    }
    let another = purchase(ALICE, callers[1].1).await;
    assert_eq!(another.status, 422);
}

#[tokio::test]
async fn who_proves_nothing_is_told_how_to_and_nothing_else() {
    let guarded = GuardedService::start();
    let assert_refused = async |authorization: &[&str], expected: &str| {
        let answer = guarded.purchase(authorization).await;
        assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
        let headers = answer.headers().clone();
        assert_eq!(headers["www-authenticate"], expected, "{authorization:?}");
        assert_eq!(headers["content-type"], "application/problem+json");
        let kind = json_of(answer).await["type"].clone();
        assert_eq!(kind, "tag:es-framework,2026:problem:unauthorized");
    };
    assert_refused(&[], "Bearer").await;
    let alice = format!("Bearer {ALICE}");
    let long = format!("Bearer {}", "x".repeat(9_000));
    let basic = alice.replace("Bearer", "Basic");
    for wrong in [
        vec!["Bearer guess"],
        vec!["Bearer "],
        vec!["Bearer"],
        vec![&basic],
        vec![&alice[..alice.len() - 1]],
        vec![&alice, &alice],
        vec![&long],
    ] {
        assert_refused(&wrong, "Bearer error=\"invalid_token\"").await;
    }
    let bought = guarded.purchase(&[&alice]).await;
    assert_eq!(bought.status(), StatusCode::CREATED);
}

#[tokio::test]
async fn a_stranger_learns_that_the_service_is_up_and_no_more() {
    let guarded = GuardedService::start();
    let url = format!("{}/actuator/health", guarded.library.url);
    let answer = get(&url).await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(json_of(answer).await, json!({ "status": "UP" }));
    let known = client().get(&url).bearer_auth(BOB).send().await.unwrap();
    let report: Value = json_of(known).await;
    assert_eq!(report["components"]["db"]["status"], "UP");
    let wrong = client().get(&url).bearer_auth("a-guess").send().await;
    assert_eq!(wrong.unwrap().status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn no_spelling_of_a_path_gets_round_the_check() {
    let guarded = GuardedService::start();
    let status_of = |line: &str| {
        let head = format!("{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        raw_http::send(&guarded.library.url, head).unwrap().status
    };
    assert_eq!(status_of("GET /actuator/health?x=/books"), 200);
    for line in [
        "GET /books",
        "HEAD /books",
        "GET //books",
        "GET /books/",
        "GET /%62ooks",
        "GET /actuator/health/",
        "GET //actuator/health",
        "GET /actuator/health/../../books",
        "GET /actuator/health/..%2f..%2fbooks",
        "GET /actuator/health;/../books",
        "GET /books?/actuator/health",
        "GET http://x/actuator/../books",
        "GET /actuator/prometheus",
        "POST /books/purchase",
        "OPTIONS /books/purchase",
        "DELETE /actuator",
    ] {
        assert_eq!(status_of(line), 401, "{line}");
    }
}

#[tokio::test]
async fn a_stream_ends_when_its_readers_token_is_revoked() {
    let guarded = GuardedService::start();
    let mut alices = guarded.open_stream(ALICE).await;
    let mut bobs = guarded.open_stream(BOB).await;
    assert!(bobs.chunk().await.unwrap().is_some());
    fs::write(&guarded.tokens, ALICES_LINE).unwrap();
    while bobs.chunk().await.unwrap().is_some() {}
    let again = guarded.open_stream(BOB).await;
    assert_eq!(again.status(), StatusCode::UNAUTHORIZED);
    assert!(alices.chunk().await.unwrap().is_some());
    let bought = guarded.purchase(&[&format!("Bearer {ALICE}")]).await;
    assert_eq!(bought.status(), StatusCode::CREATED);
    assert!(alices.chunk().await.unwrap().is_some(), "hers goes on");
}
