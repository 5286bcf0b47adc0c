//! Bearer tokens, roles, and starts that would open the service to everyone.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Command, Output},
};

use crate::support::{Library, book, client, eventually, get, json_of};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

/// The subcommand `token` of the library.
fn token(file: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_library-app"))
        .arg("token")
        .args(arguments)
        .env("AUTH_TOKENS_FILE", file)
        .output()
        .unwrap()
}

fn create(file: &Path, name: &str, roles: &[&str]) -> String {
    let roles = roles.iter().flat_map(|role| ["--role", role]);
    let arguments: Vec<_> = ["create", "--name", name]
        .into_iter()
        .chain(roles)
        .collect();
    let output = token(file, &arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A library that authenticates its clients.
struct GuardedLibrary {
    library: Library,
    folder: tempfile::TempDir,
}

impl GuardedLibrary {
    fn start(callers: &[(&str, &[&str])]) -> (Self, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens");
        let tokens = callers
            .iter()
            .map(|(name, roles)| create(&file, name, roles));
        let tokens = tokens.collect();
        let settings = [("AUTH_TOKENS_FILE", file.to_str().unwrap())];
        let library = Library::embedded_with(&folder.path().join("data"), &settings);
        (Self { library, folder }, tokens)
    }

    async fn send(&self, authorization: &[&str]) -> Response {
        let mut request = client()
            .post(format!("{}/books/purchase", self.library.url))
            .header("content-type", "application/json")
            .body(book(Uuid::new_v4()).to_string());
        for value in authorization {
            request = request.header("authorization", *value);
        }
        request.send().await.unwrap()
    }

    async fn purchase(&self, token: &str) -> StatusCode {
        self.send(&[&format!("Bearer {token}")]).await.status()
    }

    async fn get(&self, path: &str, token: &str) -> StatusCode {
        let request = client().get(format!("{}{path}", self.library.url));
        request.bearer_auth(token).send().await.unwrap().status()
    }
}

#[tokio::test]
async fn an_idempotency_key_belongs_to_its_caller() {
    let staff: [(&str, &[&str]); 2] = [("alice", &["staff"]), ("bob", &["staff"])];
    let (guarded, tokens) = GuardedLibrary::start(&staff);
    let books = [Uuid::new_v4(), Uuid::new_v4()];
    let purchase = async |token: &str, id: Uuid| {
        let request = client()
            .post(format!("{}/books/purchase", guarded.library.url))
            .header("content-type", "application/json")
            .header("idempotency-key", "monday-1")
            .bearer_auth(token);
        let answer = request.body(book(id).to_string()).send().await.unwrap();
        let location = answer.headers().get("location").cloned();
        (answer.status(), location)
    };
    for _ in 0..2 {
        for (token, id) in tokens.iter().zip(books) {
            let (status, location) = purchase(token, id).await;
            assert_eq!(status, StatusCode::CREATED);
            assert_eq!(location.unwrap(), format!("/books/{id}").as_str());
        }
    }
    let (status, _) = purchase(&tokens[0], books[1]).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
}

async fn problem(answer: Response) -> (String, Value) {
    let challenge = answer.headers()["www-authenticate"].to_str().unwrap();
    let challenge = challenge.to_owned();
    assert_eq!(answer.headers()["content-type"], "application/problem+json");
    (challenge, json_of(answer).await)
}

#[tokio::test]
async fn staff_purchase_and_readers_do_not() {
    let callers: [(&str, &[&str]); 3] = [
        ("alice", &["staff", "reader"]),
        ("bob", &["reader"]),
        ("monitoring", &[]),
    ];
    let (guarded, tokens) = GuardedLibrary::start(&callers);
    let [alice, bob, monitoring] = [0, 1, 2].map(|index| tokens[index].as_str());
    assert_eq!(guarded.purchase(alice).await, StatusCode::CREATED);
    let refused = guarded.send(&[&format!("Bearer {bob}")]).await;
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    let (challenge, problem) = problem(refused).await;
    assert_eq!(challenge, "Bearer error=\"insufficient_scope\"");
    assert_eq!(problem["type"], "tag:es-framework,2026:problem:forbidden");
    assert!(problem["detail"].as_str().unwrap().contains("staff"));
    for (path, role, status) in [
        ("/loans/overdue", alice, StatusCode::OK),
        ("/loans/overdue", bob, StatusCode::FORBIDDEN),
        ("/books", bob, StatusCode::OK),
        ("/books", monitoring, StatusCode::OK),
        ("/nothing", monitoring, StatusCode::NOT_FOUND),
        ("/nothing", "a-guess", StatusCode::UNAUTHORIZED),
    ] {
        assert_eq!(guarded.get(path, role).await, status, "{path}");
    }
    let logged = async || {
        let log = guarded.library.process.log();
        log.contains("status=403").then_some(log)
    };
    let log = eventually("the refusal is logged", logged).await;
    let line = log.lines().find(|line| line.contains("status=403"));
    assert!(line.unwrap().contains("caller=bob"), "{log}");
    assert!(tokens.iter().all(|token| !log.contains(token.as_str())));
}

#[tokio::test]
async fn who_proves_nothing_is_told_how_to_and_nothing_else() {
    let (guarded, tokens) = GuardedLibrary::start(&[("alice", &["staff"])]);
    let alice = format!("Bearer {}", tokens[0]);
    let answer = guarded.send(&[]).await;
    assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
    let (challenge, body) = problem(answer).await;
    assert_eq!(challenge, "Bearer");
    assert_eq!(body["type"], "tag:es-framework,2026:problem:unauthorized");
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
        let answer = guarded.send(&wrong).await;
        assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{wrong:?}");
        let (challenge, _) = problem(answer).await;
        assert_eq!(challenge, "Bearer error=\"invalid_token\"");
    }
    assert_eq!(guarded.send(&[&alice]).await.status(), StatusCode::CREATED);
}

#[tokio::test]
async fn a_stranger_learns_that_the_service_is_up_and_no_more() {
    let (guarded, tokens) = GuardedLibrary::start(&[("monitoring", &[])]);
    let url = format!("{}/actuator/health", guarded.library.url);
    let answer = get(&url).await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(json_of(answer).await, json!({ "status": "UP" }));
    let known = client().get(&url).bearer_auth(&tokens[0]).send();
    let report = json_of(known.await.unwrap()).await;
    assert_eq!(report["components"]["db"]["status"], "UP");
    let wrong = client().get(&url).bearer_auth("a-guess").send().await;
    assert_eq!(wrong.unwrap().status(), StatusCode::UNAUTHORIZED);
}

/// Sends a raw request line and returns the status line of the response.
fn raw(library: &Library, request_line: &str) -> String {
    let address = library.url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("{request_line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.lines().next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn no_spelling_of_a_path_gets_round_the_check() {
    let (guarded, _) = GuardedLibrary::start(&[("alice", &["staff"])]);
    let library = &guarded.library;
    assert!(raw(library, "GET /actuator/health?x=/books").contains(" 200 "));
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
        let status = raw(library, line);
        assert!(status.contains(" 401 "), "{line}: {status}");
    }
}

#[tokio::test]
async fn a_token_is_made_and_revoked_while_the_library_runs() {
    let (guarded, _) = GuardedLibrary::start(&[("alice", &["staff"])]);
    let file = guarded.folder.path().join("tokens");
    let carol = create(&file, "carol", &["staff"]);
    eventually("the new token counts", async || {
        (guarded.purchase(&carol).await == StatusCode::CREATED).then_some(())
    })
    .await;
    assert!(
        token(&file, &["revoke", "--name", "carol"])
            .status
            .success()
    );
    eventually("the revoked token counts no more", async || {
        (guarded.purchase(&carol).await == StatusCode::UNAUTHORIZED).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_stream_ends_when_its_readers_token_is_revoked() {
    let callers: [(&str, &[&str]); 2] = [("alice", &["staff"]), ("bob", &["reader"])];
    let (guarded, tokens) = GuardedLibrary::start(&callers);
    let live = async |path: &str, token: &str| {
        let request = client().get(format!("{}{path}", guarded.library.url));
        let request = request.header("accept", "text/event-stream");
        request.bearer_auth(token).send().await.unwrap()
    };
    let refused = live("/loans/overdue", &tokens[1]).await;
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    let mut alices = live("/books", &tokens[0]).await;
    let mut bobs = live("/books", &tokens[1]).await;
    assert!(bobs.chunk().await.unwrap().is_some());
    let file = guarded.folder.path().join("tokens");
    let revoked = token(&file, &["revoke", "--name", "bob"]);
    assert!(revoked.status.success());
    while bobs.chunk().await.unwrap().is_some() {}
    assert_eq!(
        live("/books", &tokens[1]).await.status(),
        StatusCode::UNAUTHORIZED
    );
    assert!(alices.chunk().await.unwrap().is_some());
    assert_eq!(guarded.purchase(&tokens[0]).await, StatusCode::CREATED);
    assert!(alices.chunk().await.unwrap().is_some(), "hers goes on");
}

/// The error of a start that fails with these settings.
fn refusal(settings: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_library-app"))
        .env("HTTP_PORT", "0")
        .env("EVENT_STORE_PORT", "0")
        .env("EVENT_STORE_DATA_DIR", folder.path())
        .envs(settings.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && !text.contains("panicked"),
        "{text}"
    );
    text
}

#[test]
fn a_start_that_would_let_anyone_in_from_elsewhere_is_refused() {
    for host in ["0.0.0.0", "::", "192.0.2.1"] {
        let text = refusal(&[("HTTP_HOST", host)]);
        for named in [
            host,
            "AUTH_TOKENS_FILE",
            "`library-app token create`",
            "HTTP_OPEN=true",
        ] {
            assert!(text.contains(named), "{text}");
        }
    }
    let contradiction = [("HTTP_OPEN", "true"), ("AUTH_TOKENS_FILE", "tokens")];
    let text = refusal(&contradiction);
    assert!(text.contains("leave one of them out"), "{text}");
    for weak in ["secret", "aaaaaaaaaaaaaaaaaaaaaaaa"] {
        let reachable = [
            ("HTTP_HOST", "0.0.0.0"),
            ("HTTP_OPEN", "true"),
            ("EVENT_STORE_API_TOKEN", weak),
        ];
        let text = refusal(&reachable);
        assert!(
            text.contains("EVENT_STORE_API_TOKEN") && text.contains("easy to guess"),
            "{text}"
        );
        assert!(!text.contains(weak), "{text}");
    }
    let missing = refusal(&[("AUTH_TOKENS_FILE", "/nowhere/at-all")]);
    assert!(missing.contains("/nowhere/at-all"), "{missing}");
}

#[tokio::test]
async fn everyone_may_call_from_elsewhere_where_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("HTTP_HOST", "0.0.0.0"), ("HTTP_OPEN", "true")];
    let library = Library::embedded_with(folder.path(), &settings);
    let url = library.url.replace("0.0.0.0", "127.0.0.1");
    assert_eq!(get(&format!("{url}/books")).await.status(), StatusCode::OK);
}

#[test]
fn a_token_for_a_name_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = token(
        &folder.path().join("tokens"),
        &["create", "--name", "two words"],
    );
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && text.contains("letters, digits"),
        "{text}"
    );
}
