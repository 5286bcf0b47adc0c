//! TLS, security headers, CORS and the rate limit.

use std::{fs, num::NonZeroU32};

use es_framework::Settings;
use reqwest::{Client, Method, StatusCode, header::HeaderMap};
use serde_json::Value;

use crate::{
    eventually::eventually,
    http_client::{client, get, json_of, new_client},
    running_service::RunningService,
    service_process::ServiceProcess,
    tls_identity::TlsIdentity,
};

fn start(identity: &TlsIdentity) -> RunningService {
    let [certificate, key] = ["certificate.pem", "key.pem"].map(|name| identity.file(name));
    let settings = Settings::default().http_tls_certificate(Some(certificate));
    RunningService::start_with(settings.http_tls_key(Some(key)))
}

/// Returns the address of a path with the name that the certificate has.
fn named(url: &str, path: &str) -> String {
    format!("{}{path}", url.replace("127.0.0.1", "localhost"))
}

async fn ssl_of(client: &Client, url: &str) -> (StatusCode, Value) {
    let answer = client.get(named(url, "/actuator/health")).send().await;
    let answer = answer.unwrap();
    let status = answer.status();
    (status, json_of(answer).await["components"]["ssl"].clone())
}

#[tokio::test]
async fn the_certificate_is_renewed_without_a_restart_and_health_tells_of_it() {
    let identity = TlsIdentity::new();
    let first = identity.renew(2090);
    let [certificate, key] = ["certificate.pem", "key.pem"].map(|name| identity.file(name));
    let settings = [
        ("HTTP_TLS_CERTIFICATE", certificate.to_str().unwrap()),
        ("HTTP_TLS_KEY", key.to_str().unwrap()),
    ];
    let library = ServiceProcess::start(&settings);
    assert!(library.url.starts_with("https://"), "{}", library.url);
    let (status, ssl) = ssl_of(&first, &library.url).await;
    assert_eq!((status, &ssl["status"]), (StatusCode::OK, &"UP".into()));
    let shown = ssl["details"]["validChains"].to_string();
    assert!(shown.contains("2090"), "{ssl}");
    let answer = first
        .get(named(&library.url, "/books"))
        .send()
        .await
        .unwrap();
    let only_tls = &answer.headers()["strict-transport-security"];
    assert_eq!(only_tls, "max-age=31536000");
    let plain = library.url.replace("https://", "http://");
    assert!(client().get(plain).send().await.is_err(), "https only");
    let second = identity.renew(2091);
    eventually("the new certificate is shown", async || {
        second.get(named(&library.url, "/books")).send().await.ok()
    })
    .await;
    let refused = first.get(named(&library.url, "/books")).send().await;
    assert!(refused.is_err(), "the old one is not used any more");
    fs::write(identity.file("certificate.pem"), "half a file").unwrap();
    eventually("the log says what is wrong", async || {
        let log = library.process.log();
        log.contains("holds no certificate").then_some(())
    })
    .await;
    let (_, ssl) = ssl_of(&second, &library.url).await;
    assert_eq!(ssl["status"], "UP", "the good one is still in use: {ssl}");
}

#[tokio::test]
async fn a_certificate_that_has_expired_takes_health_down() {
    let identity = TlsIdentity::new();
    identity.renew(2021);
    let library = start(&identity);
    let careless = new_client().tls_danger_accept_invalid_certs(true);
    let (status, ssl) = ssl_of(&careless.build().unwrap(), &library.url).await;
    let down = (StatusCode::SERVICE_UNAVAILABLE, &"DOWN".into());
    assert_eq!((status, &ssl["status"]), down);
    assert!(ssl["details"]["invalidChains"].to_string().contains("2021"));
}

/// A preflight, as a browser sends it.
async fn preflight(library: &RunningService, origin: &str) -> HeaderMap {
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
    let allowed = "https://library.example.com".parse().unwrap();
    let settings = Settings::default().http_cors_origins(Some(allowed));
    let library = RunningService::start_with(settings);
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
    let library = RunningService::start();
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
    let settings = Settings::default().http_rate_limit(NonZeroU32::new(5));
    let library = RunningService::start_with(settings);
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
