//! Bearer tokens, roles, and starts that would open the service to everyone.

use std::{
    collections::BTreeSet,
    path::Path,
    process::{Command, Output},
};

use crate::support::{
    Library, book, client, eventually, get, json_of, route_catalog::RouteCatalog,
};
use reqwest::{Response, StatusCode};
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

    async fn send(&self, token: &str) -> Response {
        let request = client()
            .post(format!("{}/books/purchase", self.library.url))
            .header("content-type", "application/json")
            .body(book(Uuid::new_v4()).to_string());
        request.bearer_auth(token).send().await.unwrap()
    }

    async fn purchase(&self, token: &str) -> StatusCode {
        self.send(token).await.status()
    }

    async fn get(&self, path: &str, token: &str) -> StatusCode {
        let request = client().get(format!("{}{path}", self.library.url));
        request.bearer_auth(token).send().await.unwrap().status()
    }
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
    let refused = guarded.send(bob).await;
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    let challenge = "Bearer error=\"insufficient_scope\"";
    assert_eq!(refused.headers()["www-authenticate"], challenge);
    let problem = json_of(refused).await;
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
    let live = client().get(format!("{}/loans/overdue", guarded.library.url));
    let live = live.header("accept", "text/event-stream").bearer_auth(bob);
    assert_eq!(live.send().await.unwrap().status(), StatusCode::FORBIDDEN);
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
async fn nothing_but_the_health_answers_without_a_token() {
    let (guarded, tokens) = GuardedLibrary::start(&[("bob", &["reader"])]);
    let catalog = RouteCatalog::read(&guarded.library.url, &tokens[0]).await;
    let words = [Uuid::new_v4().to_string(), "emma".to_owned()];
    let mut asked = BTreeSet::new();
    for sent in catalog.requests(&words) {
        // Parameters, headers and bodies are read after the credential.
        if !asked.insert((sent.route.clone(), sent.method.to_string())) {
            continue;
        }
        let is_health = sent.path.starts_with("/actuator/health");
        let url = format!("{}{}", guarded.library.url, sent.path);
        let status = client().request(sent.method.clone(), url).send().await;
        let status = status.unwrap().status();
        let is_refused = status == StatusCode::UNAUTHORIZED;
        let is_unknown = status == StatusCode::METHOD_NOT_ALLOWED;
        assert_eq!(
            is_health && sent.method != "OPTIONS",
            !is_refused && !is_unknown,
            "{sent:?}: {status}"
        );
    }
    assert!(asked.len() > 50, "{asked:?}");
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
