//! Correct and incorrect responses about subjects, event types and schemas.

use std::sync::{Arc, Mutex};

use axum::{Router, http::StatusCode, routing::post};
use futures_util::TryStreamExt as _;
use serde_json::{Value, value::RawValue};
use tokio::net::TcpListener;

use super::{
    ClientSettings, EventSourcingDbStore, TOKEN,
    hostile::{ServerFault, answer, client},
};
use es_event::{EventType, Subject};
use es_store::{EventSchema, KnownEventType, RegisterError, StoreCatalog as _, StoreError};

const OBJECT: &str = r#"{"type":"object","properties":{}}"#;

fn event_type() -> EventType {
    "io.example.test".parse().unwrap()
}

async fn subjects(act: ServerFault) -> Result<Vec<Subject>, StoreError> {
    let base = "/a".parse().unwrap();
    client(act).await.read_subjects(base).try_collect().await
}

async fn types(act: ServerFault) -> Result<Vec<KnownEventType>, StoreError> {
    client(act).await.read_event_types().try_collect().await
}

async fn known(act: ServerFault) -> Result<Option<KnownEventType>, StoreError> {
    client(act).await.read_event_type(event_type()).await
}

async fn register(act: ServerFault) -> Result<(), RegisterError> {
    let schema = EventSchema::parse(OBJECT).unwrap();
    let store = client(act).await;
    store.register_event_schema(event_type(), schema).await
}

fn subject_line(subject: &str) -> String {
    format!("{{\"type\":\"subject\",\"payload\":{{\"subject\":\"{subject}\"}}}}\n")
}

fn described(schema: &str) -> String {
    format!(r#"{{"eventType":"io.example.test","isPhantom":true,"schema":{schema}}}"#)
}

#[tokio::test]
async fn a_schema_is_an_object_or_its_text_in_a_string() {
    let text = serde_json::to_string(OBJECT).unwrap();
    for (sent, expected) in [
        (OBJECT, Some(OBJECT)),
        (text.as_str(), Some(OBJECT)),
        ("\"\"", None),
        ("null", None),
    ] {
        let one = described(sent);
        let line = format!("{{\"type\":\"eventType\",\"payload\":{one}}}\n");
        let listed = types(answer("200 OK", &line)).await.unwrap();
        let found = known(answer("200 OK", &one)).await.unwrap();
        for known in listed.into_iter().chain(found) {
            assert!(known.is_phantom);
            assert_eq!(known.schema.as_deref().map(RawValue::get), expected);
        }
    }
    for wrong in ["1", "[]", "\"{\"", "\"1\""] {
        let broken = known(answer("200 OK", &described(wrong))).await;
        assert!(
            matches!(broken, Err(StoreError::Corrupt { .. })),
            "{broken:?}"
        );
    }
}

#[tokio::test]
async fn an_event_type_is_unknown_only_where_the_server_says_so() {
    let unknown = answer("404 Not Found", "event type 'io.example.test' not found\n");
    assert!(known(unknown).await.unwrap().is_none());
    let no_route = known(answer("404 Not Found", "404 page not found\n")).await;
    assert!(
        matches!(no_route, Err(StoreError::Refused(_))),
        "{no_route:?}"
    );
    let other = described("null").replace("example", "other");
    for body in ["", "null", "<html>", other.as_str()] {
        let broken = known(answer("200 OK", body)).await;
        assert!(
            matches!(broken, Err(StoreError::Corrupt { .. })),
            "{broken:?}"
        );
    }
    for act in [
        ServerFault::Silence,
        ServerFault::Close,
        ServerFault::Endless,
    ] {
        let error = known(act).await.unwrap_err();
        assert!(error.is_transient(), "{error:?}");
    }
}

#[tokio::test]
async fn a_list_that_is_not_whole_is_an_error() {
    let first = subject_line("/a");
    for act in [
        ServerFault::Silence,
        ServerFault::Close,
        ServerFault::Say(format!(
            "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{first}"
        )),
        ServerFault::SayAndHang(format!("HTTP/1.1 200 OK\r\n\r\n{first}")),
        ServerFault::Say(format!("HTTP/1.1 200 OK\r\n\r\n{first}{{\"type\":")),
        answer("503 Service Unavailable", "busy"),
        answer(
            "200 OK",
            "{\"type\":\"error\",\"payload\":{\"error\":\"disk\"}}\n",
        ),
    ] {
        let error = subjects(act.clone()).await.unwrap_err();
        assert!(error.is_transient(), "{error:?}");
    }
    let heartbeat = "{\"type\":\"heartbeat\",\"payload\":{}}\n";
    let whole = format!("{heartbeat}\n{first}{}", subject_line("/a/b"));
    assert_eq!(subjects(answer("200 OK", &whole)).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_list_of_something_else_is_broken() {
    for body in [
        "<html>\n".to_owned(),
        "{}\n".to_owned(),
        "{\"type\":\"subject\"}\n".to_owned(),
        "{\"type\":\"subject\",\"payload\":\"/a\"}\n".to_owned(),
        "{\"type\":\"row\",\"payload\":1}\n".to_owned(),
        format!("{}\n", "[".repeat(50_000)),
        "x".repeat(200_000),
        subject_line("no subject"),
        subject_line("/b"),
        subject_line("/ab"),
    ] {
        let error = subjects(answer("200 OK", &body)).await.unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    }
    let error = types(ServerFault::Endless).await.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
}

#[tokio::test]
async fn a_registration_that_was_sent_and_not_answered_has_an_unknown_outcome() {
    for act in [
        ServerFault::Silence,
        ServerFault::Close,
        answer("204 No Content", ""),
        answer("500 Internal Server Error", "disk"),
    ] {
        let error = register(act).await.unwrap_err();
        assert!(matches!(error, RegisterError::Unknown { .. }), "{error:?}");
        assert!(error.to_string().contains("http://127.0.0.1:"), "{error}");
    }
    for status in [
        "302 Found",
        "400 Bad Request",
        "401 Unauthorized",
        "404 Not Found",
        "409 Conflict",
        "503 Service Unavailable",
    ] {
        let error = register(answer(status, "schema conflict: of its own"))
            .await
            .unwrap_err();
        assert!(matches!(error, RegisterError::Store(_)), "{error:?}");
    }
    register(answer("200 OK", "")).await.unwrap();
}

/// A server that accepts schemas only as text, and the bodies that it received.
async fn older() -> (EventSourcingDbStore, Arc<Mutex<Vec<Value>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sent = Arc::clone(&seen);
    let handler = async move |body: String| {
        let body: Value = serde_json::from_str(&body).unwrap();
        let is_text = body["schema"].is_string();
        sent.lock().unwrap().push(body);
        if is_text {
            (StatusCode::OK, "{}")
        } else {
            (StatusCode::BAD_REQUEST, "schema: expected string\n")
        }
    };
    let router = Router::new().route("/api/v1/register-event-schema", post(handler));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async { axum::serve(listener, router).await });
    let store = EventSourcingDbStore::new(ClientSettings::new(url, TOKEN)).unwrap();
    (store, seen)
}

#[tokio::test]
async fn a_server_that_wants_the_text_of_a_schema_gets_it() {
    let (store, seen) = older().await;
    let schema = EventSchema::parse(OBJECT).unwrap();
    let registered = store.register_event_schema(event_type(), schema).await;
    registered.unwrap();
    let [first, second] = <[Value; 2]>::try_from(seen.lock().unwrap().clone()).unwrap();
    let object: Value = serde_json::from_str(OBJECT).unwrap();
    assert_eq!(first["schema"], object, "first as newer servers want it");
    let text = second["schema"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), object);
    assert_eq!(second["eventType"], "io.example.test");
}
