//! A service that is open on this machine: who is let in all the same.

use std::{fs, net::TcpStream, process::Command, time::Instant};

use es_framework::Settings;
use reqwest::{Method, StatusCode};

use crate::{
    eventually::PATIENCE,
    http_client::{client, new_client},
    process::Process,
    requirement::require_program,
    running_service::{RunningService, TOKEN},
    service_process::ServiceProcess,
};

const FOREIGN: &str = "https://evil.example";

#[tokio::test]
async fn a_name_that_leads_here_by_dns_rebinding_gets_nothing() {
    let library = RunningService::start();
    for path in [
        "/",
        "/books",
        "/books/1",
        "/books/purchase",
        "/actuator/health",
        "/actuator/prometheus",
        "/actuator/projections",
        "/openapi.json",
        "/docs",
        "/console",
        "/console/sign-in",
        "/nothing",
    ] {
        for host in ["evil.example", "192.0.2.1:8080", "localhost.evil.example"] {
            let request = client().get(format!("{}{path}", library.url));
            let answer = request.header("host", host).send().await.unwrap();
            assert_eq!(
                answer.status(),
                StatusCode::MISDIRECTED_REQUEST,
                "{host}{path}"
            );
            let problem = answer.text().await.unwrap();
            assert!(problem.contains("HTTP_OPEN=true"), "{problem}");
        }
    }
    for host in [
        "localhost",
        "127.0.0.1:1",
        "[::1]:8080",
        "library.localhost",
    ] {
        let request = client().get(format!("{}/books", library.url));
        let answer = request.header("host", host).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{host}");
    }
}

#[tokio::test]
async fn pages_of_other_origins_reach_no_route_of_operators() {
    for origins in ["*", FOREIGN] {
        let allowed = origins.parse().unwrap();
        let settings = Settings::default().http_cors_origins(Some(allowed));
        let library = RunningService::start_with(settings);
        let allows = async |method: Method, path: &str| {
            let request = client()
                .request(method, format!("{}{path}", library.url))
                .header("origin", FOREIGN)
                .header("access-control-request-method", "GET")
                .header("access-control-request-headers", "authorization");
            let answer = request.send().await.unwrap();
            answer.headers().contains_key("access-control-allow-origin")
        };
        for method in [Method::GET, Method::OPTIONS] {
            assert!(allows(method.clone(), "/books").await, "{method}");
            for path in [
                "/actuator/projections",
                "/actuator/projections/book_copies/rebuild",
                "/actuator/reactions",
                "/console",
                "/console/events/live",
            ] {
                assert!(
                    !allows(method.clone(), path).await,
                    "{origins} {method} {path}"
                );
            }
        }
    }
}

/// Returns a port that was free a moment ago.
fn unused_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Starts nginx as a proxy with nothing but `proxy_pass`, so it adds no header that tells of it.
fn start_proxy(folder: &std::path::Path, upstream: &str) -> (Process, String) {
    let port = unused_port();
    let text = format!(
        "events {{}} http {{ access_log off; client_body_temp_path {0}/b; proxy_temp_path {0}/p; fastcgi_temp_path {0}/f; uwsgi_temp_path {0}/u; scgi_temp_path {0}/s; server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass {upstream}; }} }} }}",
        folder.display()
    );
    fs::write(folder.join("nginx.conf"), text).unwrap();
    let process = format!(
        "daemon off; master_process off; pid {0}/nginx.pid; error_log stderr;",
        folder.display()
    );
    let mut nginx = Command::new("nginx");
    nginx.arg("-c").arg(folder.join("nginx.conf"));
    let (proxy, []) = Process::start(nginx.args(["-g", &process]), []);
    let begin = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begin.elapsed() < PATIENCE, "{}", proxy.log());
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    (proxy, format!("http://127.0.0.1:{port}"))
}

#[tokio::test]
async fn a_proxy_that_adds_no_header_opens_the_console_to_nobody() {
    if !require_program("nginx", "nginx") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let library = RunningService::start();
    let (_proxy, url) = start_proxy(folder.path(), &library.url);
    // The service itself is open, as it is on this machine.
    let books = client().get(format!("{url}/books")).send().await.unwrap();
    assert_eq!(books.status(), StatusCode::OK);
    for path in ["/console", "/console/events/live", "/console/subjects"] {
        let answer = client().get(format!("{url}{path}")).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{path}");
    }
    let guess = format!("{url}/console/open?key=guess");
    let browser = new_client().redirect(reqwest::redirect::Policy::none());
    let guessed = browser.build().unwrap().get(guess).send().await.unwrap();
    assert_eq!(guessed.status(), StatusCode::FORBIDDEN);
    let operator = client().get(format!("{url}/console")).bearer_auth(TOKEN);
    assert_eq!(operator.send().await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn the_log_names_the_address_of_who_guesses_tokens() {
    let library = ServiceProcess::start(&[]);
    let sign_in = client().post(format!("{}/console/sign-in", library.url));
    let sign_in = sign_in
        .header("content-type", "application/x-www-form-urlencoded")
        .body("token=guess");
    assert_eq!(
        sign_in.send().await.unwrap().status(),
        StatusCode::FORBIDDEN
    );
    let skip = format!("{}/actuator/projections/book_copies/skip", library.url);
    let skip = client()
        .post(skip)
        .bearer_auth("guess")
        .send()
        .await
        .unwrap();
    assert_eq!(skip.status(), StatusCode::UNAUTHORIZED);
    let log = library.process.log();
    for sentence in ["to sign in to the console", "to the operator API"] {
        let line = log.lines().find(|line| line.contains(sentence)).unwrap();
        assert!(
            line.contains("127.0.0.1") && !line.contains("guess"),
            "{line}"
        );
    }
}
