//! Rules of all routes: authentication, and responses to unknown requests.

use reqwest::header;
use serde_json::{Value, json};

use super::{TOKEN, TestServer};
use es_event::Dialect;

const PROTECTED: [&str; 10] = [
    "backup",
    "verify-store",
    "read-subjects",
    "read-event-type",
    "read-event-types",
    "register-event-schema",
    "verify-api-token",
    "write-events",
    "read-events",
    "observe-events",
];

#[tokio::test]
async fn a_ping_needs_no_token_and_minds_none() {
    let server = TestServer::start(Dialect::Item).await;
    for request in [
        server.get("/api/v1/ping"),
        server.get("/api/v1/ping").bearer_auth("wrong"),
    ] {
        let response = request.send().await.unwrap();
        let content_type = response.headers()[header::CONTENT_TYPE].to_str().unwrap();
        assert!(content_type.starts_with("text/plain"), "{content_type}");
        assert_eq!(response.status(), 200);
        assert_eq!(response.text().await.unwrap(), "OK");
    }
}

#[tokio::test]
async fn a_ping_of_the_newer_dialect_is_a_cloud_event() {
    let server = TestServer::start(Dialect::Event).await;
    let response = server.get("/api/v1/ping").send().await.unwrap();
    let event: Value = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
    assert_eq!(event["type"], "io.eventsourcingdb.api.ping-received");
    assert_eq!(event["subject"], "/api/v1/ping");
    assert_eq!(event["data"]["message"], "My God, it's full of stars.");
    for field in ["specversion", "id", "time", "source", "datacontenttype"] {
        assert!(event[field].is_string(), "{field}");
    }
}

#[tokio::test]
async fn a_token_is_verified_whatever_the_body() {
    let server = TestServer::start(Dialect::Item).await;
    let request = || server.post("/api/v1/verify-api-token");
    for request in [request(), request().body(""), request().body("{}")] {
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        let event: Value = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
        assert_eq!(event["type"], "io.eventsourcingdb.api.api-token-verified");
    }
}

#[tokio::test]
async fn no_other_route_answers_without_the_token() {
    let server = TestServer::start(Dialect::Item).await;
    for route in PROTECTED {
        let url = format!("{}/api/v1/{route}", server.url());
        let bare = || server.client.post(&url).body(r#"{"subject":"/"}"#);
        for request in [
            bare(),
            bare().bearer_auth("wrong"),
            bare().bearer_auth(""),
            bare().basic_auth(TOKEN, Some(TOKEN)),
            bare().header(header::AUTHORIZATION, TOKEN),
        ] {
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), 401, "{route}");
            let text = response.text().await.unwrap();
            assert_eq!(text, "unauthorized\n");
            assert!(text.ends_with('\n') && !text.contains(TOKEN), "{text}");
        }
    }
}

#[tokio::test]
async fn every_answer_names_the_server() {
    let server = TestServer::start(Dialect::Item).await;
    let stranger = server
        .client
        .post(format!("{}/api/v1/read-events", server.url()));
    let answers = [
        (server.get("/api/v1/ping"), 200),
        (server.post("/api/v1/verify-api-token"), 200),
        (
            server
                .post("/api/v1/read-events")
                .body(r#"{"subject":"/"}"#),
            200,
        ),
        (server.post("/api/v1/read-events").body("{"), 400),
        (server.get("/api/v1/read-events"), 405),
        (server.post("/api/v1/ping"), 405),
        (stranger, 401),
        (server.post("/api/v1/no-such-route"), 404),
        (server.get("/"), 404),
    ];
    for (request, status) in answers {
        let response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), status, "{}", response.url());
        let name = response.headers()[header::SERVER].to_str().unwrap();
        assert!(name.starts_with("EventSourcingDB/"), "{name}");
        if status >= 400 {
            assert!(response.text().await.unwrap().ends_with('\n'));
        }
    }
}

#[tokio::test]
async fn an_unknown_path_is_told_as_the_original_server_tells_it() {
    let server = TestServer::start(Dialect::Event).await;
    for path in [
        "/api/v2",
        "/api/v2/system/pin",
        "/api/v3/system/ping",
        "/api/v1/nothing",
        "/api/v1/ping/",
    ] {
        let response = server.get(path).send().await.unwrap();
        assert_eq!(response.status(), 404, "{path}");
        assert_eq!(response.text().await.unwrap(), "404 page not found\n");
    }
}

#[tokio::test]
async fn a_body_that_is_no_json_is_refused_with_a_reason() {
    let server = TestServer::start(Dialect::Item).await;
    let bodies: [&[u8]; 7] = [
        b"",
        b"{",
        b"[]",
        b"null",
        b"<html>",
        b"{\"subject\":\"/\xff\"}",
        b"{\"subject\":\"\\ud800\"}",
    ];
    for route in ["write-events", "read-events", "observe-events"] {
        for body in bodies {
            let request = server.post(&format!("/api/v1/{route}"));
            let response = request.body(body).send().await.unwrap();
            assert_eq!(response.status(), 400, "{route} {body:?}");
            let text = response.text().await.unwrap();
            assert!(text.len() > 20 && text.ends_with('\n'), "{text}");
        }
    }
}

#[tokio::test]
async fn a_stopped_server_takes_no_more_connections() {
    let mut server = TestServer::start(Dialect::Item).await;
    server.fill(&["/a"]).await;
    assert_eq!(server.ids(&json!({"subject": "/a"})).await, ["0"]);
    server.stop().await;
    assert!(server.get("/api/v1/ping").send().await.is_err());
}
