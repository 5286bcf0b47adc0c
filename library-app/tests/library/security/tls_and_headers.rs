//! TLS, security headers, CORS and the rate limit.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use crate::support::{Library, client, eventually, get, json_of, new_client};
use rcgen::{CertificateParams, KeyPair};
use reqwest::{Certificate, Client, Method, StatusCode, header::HeaderMap};
use serde_json::Value;

/// A certificate for this machine, and the files that hold it.
struct TlsIdentity {
    folder: tempfile::TempDir,
}

impl TlsIdentity {
    fn new() -> Self {
        let identity = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        identity.renew(2090);
        identity
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Another certificate, valid until the given year, in the same files.
    fn renew(&self, year: i32) -> Client {
        let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        parameters.not_before = rcgen::date_time_ymd(2020, 1, 1);
        parameters.not_after = rcgen::date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.self_signed(&key).unwrap().pem();
        // The certificate and the key do not match for a moment, as in a renewal by another program.
        fs::write(self.file("key.pem"), key.serialize_pem()).unwrap();
        let owner_only = fs::Permissions::from_mode(0o600);
        fs::set_permissions(self.file("key.pem"), owner_only).unwrap();
        fs::write(self.file("certificate.pem"), &certificate).unwrap();
        let trusted = Certificate::from_pem(certificate.as_bytes()).unwrap();
        let client = new_client().pool_max_idle_per_host(0);
        client.tls_certs_only([trusted]).build().unwrap()
    }

    fn library(&self) -> Library {
        let (certificate, key) = (self.file("certificate.pem"), self.file("key.pem"));
        let settings = [
            ("HTTP_TLS_CERTIFICATE", certificate.to_str().unwrap()),
            ("HTTP_TLS_KEY", key.to_str().unwrap()),
        ];
        Library::embedded_with(&self.folder.path().join("data"), &settings)
    }
}

fn named(library: &Library, path: &str) -> String {
    let url = library.url.replace("127.0.0.1", "localhost");
    format!("{url}{path}")
}

async fn ssl_of(client: &Client, library: &Library) -> (StatusCode, Value) {
    let answer = client.get(named(library, "/actuator/health")).send().await;
    let answer = answer.unwrap();
    let status = answer.status();
    (status, json_of(answer).await["components"]["ssl"].clone())
}

#[tokio::test]
async fn the_certificate_is_renewed_without_a_restart_and_health_tells_of_it() {
    let identity = TlsIdentity::new();
    let first = identity.renew(2090);
    let library = identity.library();
    assert!(library.url.starts_with("https://"), "{}", library.url);
    let (status, ssl) = ssl_of(&first, &library).await;
    assert_eq!((status, &ssl["status"]), (StatusCode::OK, &"UP".into()));
    let shown = ssl["details"]["validChains"].to_string();
    assert!(shown.contains("2090"), "{ssl}");
    let answer = first.get(named(&library, "/books")).send().await.unwrap();
    let only_tls = &answer.headers()["strict-transport-security"];
    assert_eq!(only_tls, "max-age=31536000");
    let plain = library.url.replace("https://", "http://");
    assert!(client().get(plain).send().await.is_err(), "https only");
    let second = identity.renew(2091);
    eventually("the new certificate is shown", async || {
        second.get(named(&library, "/books")).send().await.ok()
    })
    .await;
    let refused = first.get(named(&library, "/books")).send().await;
    assert!(refused.is_err(), "the old one is not used any more");
    fs::write(identity.file("certificate.pem"), "half a file").unwrap();
    eventually("the log says what is wrong", async || {
        let log = library.process.log();
        log.contains("holds no certificate").then_some(())
    })
    .await;
    let (_, ssl) = ssl_of(&second, &library).await;
    assert_eq!(ssl["status"], "UP", "the good one is still in use: {ssl}");
}

#[tokio::test]
async fn an_operator_asks_an_application_that_speaks_tls() {
    let identity = TlsIdentity::new();
    let library = identity.library();
    let certificate = identity.file("certificate.pem");
    let trusted = ["--http-tls-certificate", certificate.to_str().unwrap()];
    let by_name = [&trusted[..], &["--http-host", "localhost"]].concat();
    for (asked, known) in [
        ("projection", "book_copies: at"),
        ("reaction", "LoanReminder: at"),
    ] {
        let status = library.said(&[&[asked, "status"], &by_name[..]].concat(), true);
        assert!(status.contains(known), "{status}");
    }
    let nothing = [&["reaction", "retry", "LoanReminder"], &by_name[..]].concat();
    assert!(library.said(&nothing, false).contains("has not stopped"));

    let status = |rest: &[&str]| library.said(&[&["projection", "status"], rest].concat(), false);
    let elsewhere = status(&trusted);
    assert!(
        elsewhere.contains("certificate of the application is not for 127.0.0.1"),
        "{elsewhere}"
    );
    assert!(status(&["--http-host", "localhost"]).contains("HTTP_TLS_CERTIFICATE"));
    assert!(status(&["--http-host", "local host"]).contains("no address and no host name"));
    let missing = status(&["--http-tls-certificate", "missing.pem"]);
    assert!(missing.contains("missing.pem cannot be read"), "{missing}");
    let other = TlsIdentity::new();
    let other = other.file("certificate.pem");
    let other = [
        "--http-tls-certificate",
        other.to_str().unwrap(),
        "--http-host",
        "localhost",
    ];
    let stranger = status(&other);
    assert!(
        stranger.contains("does not follow from those"),
        "{stranger}"
    );

    let folder = tempfile::tempdir().unwrap();
    let plain = Library::embedded(folder.path());
    let unencrypted = [&["projection", "status"], &trusted[..]].concat();
    let unencrypted = plain.said(&unencrypted, false);
    assert!(unencrypted.contains("does not speak TLS"), "{unencrypted}");
}

#[tokio::test]
async fn a_certificate_that_has_expired_takes_health_down() {
    let identity = TlsIdentity::new();
    identity.renew(2021);
    let library = identity.library();
    let careless = new_client().tls_danger_accept_invalid_certs(true);
    let (status, ssl) = ssl_of(&careless.build().unwrap(), &library).await;
    let down = (StatusCode::SERVICE_UNAVAILABLE, &"DOWN".into());
    assert_eq!((status, &ssl["status"]), down);
    assert!(ssl["details"]["invalidChains"].to_string().contains("2021"));
}

/// A preflight, as a browser sends it.
async fn preflight(library: &Library, origin: &str) -> HeaderMap {
    let request = client()
        .request(Method::OPTIONS, format!("{}/books/purchase", library.url))
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .header(
            "access-control-request-headers",
            "authorization,content-type",
        );
    request.send().await.unwrap().headers().clone()
}

#[tokio::test]
async fn pages_of_the_named_origins_may_call_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("HTTP_CORS_ORIGINS", "https://library.example.com")];
    let library = Library::embedded_with(folder.path(), &settings);
    let allowed = preflight(&library, "https://library.example.com").await;
    let origin = &allowed["access-control-allow-origin"];
    assert_eq!(origin, "https://library.example.com");
    let headers = allowed["access-control-allow-headers"].to_str().unwrap();
    assert!(headers.contains("authorization"), "{headers}");
    for other in [
        "https://evil.example",
        "https://library.example.com.evil.example",
        "null",
    ] {
        let refused = preflight(&library, other).await;
        assert!(
            !refused.contains_key("access-control-allow-origin"),
            "{other}"
        );
    }
}

#[tokio::test]
async fn every_answer_tells_browsers_to_make_nothing_else_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    for path in [
        "/books",
        "/nothing",
        "/actuator/health",
        "/actuator/prometheus",
    ] {
        let answer = get(&format!("{}{path}", library.url)).await;
        let headers = answer.headers();
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(headers["referrer-policy"], "no-referrer", "{path}");
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(!headers.contains_key("strict-transport-security"));
        assert!(!headers.contains_key("access-control-allow-origin"));
    }
}

#[tokio::test]
async fn a_client_that_asks_too_often_is_told_when_to_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("HTTP_RATE_LIMIT", "5")];
    let library = Library::embedded_with(folder.path(), &settings);
    let url = format!("{}/books", library.url);
    let mut answers = Vec::new();
    for _ in 0..4 {
        let round = (0..50).map(|_| get(&url));
        answers.extend(futures_util::future::join_all(round).await);
    }
    let refused = answers
        .into_iter()
        .find(|answer| answer.status() == StatusCode::TOO_MANY_REQUESTS)
        .expect("200 requests take less than 39 s");
    assert_eq!(refused.headers()["retry-after"], "1");
    let problem = json_of(refused).await;
    let kind = "tag:es-framework,2026:problem:too-many-requests";
    assert_eq!(problem["type"], kind);
    eventually("it may ask again", async || {
        (get(&url).await.status() == StatusCode::OK).then_some(())
    })
    .await;
    for path in [
        "/docs",
        "/docs/main.js",
        "/",
        "/actuator/projections",
        "/actuator/reactions",
        "/openapi.json",
        "/actuator/health",
    ] {
        let url = format!("{}{path}", library.url);
        eventually("a request is refused", async || {
            let answers = futures_util::future::join_all((0..20).map(|_| get(&url))).await;
            let mut statuses = answers.iter().map(reqwest::Response::status);
            statuses.find(|status| *status == StatusCode::TOO_MANY_REQUESTS)
        })
        .await;
    }
}
