//! Who may read the console, and who is an operator.

use axum::{
    body::Body,
    http::{Request, StatusCode, header},
};
use es_net::PeerAddress;
use serde_json::json;

use super::{LINK_KEY, TestConsole, form};

const PATHS: [&str; 17] = [
    "/console",
    "/console/overview",
    "/console/read-models",
    "/console/reactions",
    "/console/rows/book_copies",
    "/console/events/0",
    "/console/events/live",
    "/console/subjects",
    "/console/subjects/books",
    "/console/states/Book",
    "/console/model",
    "/console/people",
    "/console/people/export?subject=/readers/1",
    "/console/people/erase?subject=/readers/1",
    "/console/commands",
    "/console/eventql",
    "/console/nothing",
];

#[tokio::test]
async fn without_the_credential_of_operators_nothing_is_readable() {
    let console = TestConsole::new(false).await;
    console
        .record("/books/1", json!({ "title": "The Hobbit" }))
        .await;
    for path in PATHS {
        let (status, page) = console.get(path).await;
        let is_denied = [StatusCode::UNAUTHORIZED, StatusCode::NOT_FOUND].contains(&status);
        assert!(is_denied, "{path}: {status}");
        assert!(
            !page.contains("Hobbit") && !page.contains("/books"),
            "{path}: {page}"
        );
    }
    let with_token = |token: &str| {
        let request =
            Request::get("/console").header(header::AUTHORIZATION, format!("Bearer {token}"));
        request.body(Body::empty()).unwrap()
    };
    assert_eq!(
        console.send(with_token("wrong")).await.0,
        StatusCode::UNAUTHORIZED
    );
    let (status, _, page) = console.send(with_token("secret")).await;
    assert_eq!(status, StatusCode::OK);
    assert!(page.contains("Hobbit"));
}

#[tokio::test]
async fn an_operator_signs_in_and_out() {
    let console = TestConsole::new(false).await;
    let sign_in = |token: &str| {
        let body = format!("token={token}");
        form("/console/sign-in").body(Body::from(body)).unwrap()
    };
    let (status, headers, page) = console.send(sign_in("wrong")).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "{page}");
    assert!(!headers.contains_key(header::SET_COOKIE));
    let (status, headers, _) = console.send(sign_in("secret")).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    let cookie = headers[header::SET_COOKIE].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let request = Request::get("/console").header(header::COOKIE, &cookie);
    let (status, _, page) = console.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(status, StatusCode::OK);
    let token = page.split("name=\"form\" value=\"").nth(1).unwrap();
    let token = token.split('"').next().unwrap();
    let sign_out = |form_token: &str, site: &str| {
        let body = format!("form={form_token}");
        let request = form("/console/sign-out").header(header::COOKIE, &cookie);
        let request = request.header("sec-fetch-site", site);
        request.body(Body::from(body)).unwrap()
    };
    for (form_token, site) in [
        ("", "same-origin"),
        ("wrong", "same-origin"),
        (token, "cross-site"),
        (token, "same-site"),
    ] {
        let (status, headers, _) = console.send(sign_out(form_token, site)).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{form_token} {site}");
        assert!(!headers.contains_key(header::SET_COOKIE));
    }
    let (status, headers, _) = console.send(sign_out(token, "same-origin")).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    assert!(
        headers[header::SET_COOKIE]
            .to_str()
            .unwrap()
            .contains("Max-Age=0")
    );
}

#[tokio::test]
async fn a_signed_out_cookie_is_worth_nothing() {
    let console = TestConsole::new(false).await;
    let sign_in = form("/console/sign-in")
        .body(Body::from("token=secret"))
        .unwrap();
    let (_, headers, _) = console.send(sign_in).await;
    let cookie = headers[header::SET_COOKIE].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let open = || {
        let request = Request::get("/console").header(header::COOKIE, &cookie);
        request.body(Body::empty()).unwrap()
    };
    let (_, _, page) = console.send(open()).await;
    let token = page.split("name=\"form\" value=\"").nth(1).unwrap();
    let body = format!("form={}", token.split('"').next().unwrap());
    let sign_out = form("/console/sign-out").header(header::COOKIE, &cookie);
    let sign_out = sign_out.body(Body::from(body)).unwrap();
    assert_eq!(console.send(sign_out).await.0, StatusCode::SEE_OTHER);
    assert_eq!(console.send(open()).await.0, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn an_open_console_is_for_the_browser_that_opened_the_link_of_the_start() {
    let mut console = TestConsole::new(true).await;
    assert_eq!(console.get("/console").await.0, StatusCode::OK);
    let session = console.session.take();
    let (status, page) = console.get("/console").await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    assert!(page.contains("Open the link"), "{page}");
    // The link works once, and no other key does.
    for key in [LINK_KEY, "another", ""] {
        assert_eq!(
            console.open_link(key).await,
            Err(StatusCode::FORBIDDEN),
            "{key}"
        );
    }
    console.session = session;
    let (status, _) = console.get("/console/open?key=another").await;
    assert_eq!(
        status,
        StatusCode::SEE_OTHER,
        "the browser is let in already"
    );
}

#[tokio::test]
async fn who_guesses_tokens_has_to_wait() {
    let console = TestConsole::new(false).await;
    let from = |mut request: Request<Body>, address: &str| {
        let peer = PeerAddress(address.parse().unwrap());
        request.extensions_mut().insert(peer);
        request
    };
    let guess = || {
        form("/console/sign-in")
            .body(Body::from("token=guess"))
            .unwrap()
    };
    let guess_in_header = || {
        let request = Request::get("/console").header(header::AUTHORIZATION, "Bearer guess");
        request.body(Body::empty()).unwrap()
    };
    for _ in 0..5 {
        let (status, _, _) = console.send(from(guess(), "192.0.2.1")).await;
        assert_eq!(status, StatusCode::FORBIDDEN);
        let (status, _, _) = console.send(from(guess_in_header(), "192.0.2.1")).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED);
    }
    for request in [guess(), guess_in_header()] {
        let (status, headers, page) = console.send(from(request, "192.0.2.1")).await;
        assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
        assert!(headers.contains_key(header::RETRY_AFTER) && page.contains("Too many attempts"));
    }
    let right = form("/console/sign-in")
        .body(Body::from("token=secret"))
        .unwrap();
    let (status, _, _) = console.send(from(right, "192.0.2.2")).await;
    assert_eq!(status, StatusCode::SEE_OTHER, "others are not slowed down");
}
