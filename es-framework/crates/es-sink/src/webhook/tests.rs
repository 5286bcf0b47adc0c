//! Tests of webhooks, with receivers behind sockets.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Instant,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::HeaderMap,
    routing::post,
};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::*;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NEXT_SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

type Requests = Arc<Mutex<Vec<(HeaderMap, String)>>>;

/// A receiver that answers with the response of a function.
async fn receive_with<F>(respond: F) -> (SocketAddr, Requests)
where
    F: Fn(&str) -> axum::http::Response<Body> + Clone + Send + Sync + 'static,
{
    let requests = Requests::default();
    let receive = async move |State(requests): State<Requests>, headers: HeaderMap, body: Bytes| {
        let text = String::from_utf8(body.to_vec()).unwrap();
        let response = respond(&text);
        requests.lock().unwrap().push((headers, text));
        // Deliveries gather meanwhile.
        tokio::time::sleep(Duration::from_millis(20)).await;
        response
    };
    let router = Router::new().route("/events", post(receive));
    let router = router.with_state(Arc::clone(&requests));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    (address, requests)
}

fn respond(status: u16, headers: &[(&str, &str)], body: &str) -> axum::http::Response<Body> {
    let response = axum::http::Response::builder().status(status);
    let headers = headers.iter();
    let response = headers.fold(response, |response, (name, value)| {
        response.header(*name, *value)
    });
    response.body(Body::from(body.to_owned())).unwrap()
}

fn webhook(address: SocketAddr, batch: Option<usize>) -> WebhookTransport {
    WebhookTransport::new(WebhookSettings {
        url: format!("http://{address}/events"),
        secrets: vec![NEXT_SECRET.to_owned(), SECRET.to_owned()],
        batch: batch.and_then(NonZeroUsize::new),
        allow_private: true,
    })
    .unwrap()
}

fn event(id: u32) -> CloudEvent {
    let data = serde_json::value::to_raw_value(&json!({ "title": "Stories \"no\" \u{202e}name" }));
    CloudEvent {
        id: format!("{id}/copy_available/0/0"),
        source: "library-service".into(),
        subject: format!("/books/{id}\u{202e}"),
        event_type: "com.example.library.CopyAvailable.v1",
        time: "2026-07-29T12:00:00Z".to_owned(),
        occurred_at: None,
        trace: None,
        data: data.unwrap().into(),
    }
}

async fn failure(
    response: impl Fn() -> axum::http::Response<Body> + Clone + Send + Sync + 'static,
) -> DeliveryError {
    let (address, _) = receive_with(move |_| response()).await;
    webhook(address, None)
        .deliver(&[event(1)])
        .await
        .unwrap_err()
}

#[test]
fn the_vectors_of_the_specification_are_signed_alike() {
    // The example of the specification, and the vector of the reference libraries.
    let body = br#"{"test": 2432232314}"#;
    let signed =
        parse_secret(SECRET)
            .unwrap()
            .sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body);
    assert_eq!(
        signed.unwrap(),
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    );
}

#[tokio::test]
async fn a_receiver_accepts_a_delivery_with_either_secret() {
    let (address, requests) = receive_with(|_| respond(204, &[], "")).await;
    let transport = webhook(address, None);
    transport.deliver(&[event(1), event(2)]).await.unwrap();
    let requests = requests.lock().unwrap();
    let ids = requests
        .iter()
        .map(|(headers, _)| headers["webhook-id"].to_str().unwrap());
    assert_eq!(
        ids.collect::<Vec<_>>(),
        ["1/copy_available/0/0", "2/copy_available/0/0"]
    );
    for (headers, body) in &*requests {
        assert_eq!(headers["content-type"], "application/cloudevents+json");
        for secret in [SECRET, NEXT_SECRET] {
            let receiver = Webhook::new(secret).unwrap();
            receiver.verify(body.as_bytes(), headers).unwrap();
            assert!(receiver.verify(b"{}", headers).is_err());
        }
        let event: Value = serde_json::from_str(body).unwrap();
        assert_eq!(event["specversion"], "1.0");
        assert_eq!(event["id"], headers["webhook-id"].to_str().unwrap());
    }
}

#[tokio::test]
async fn deliveries_that_wait_go_together() {
    let (address, requests) = receive_with(|_| respond(200, &[], "")).await;
    let transport = Arc::new(webhook(address, Some(10)));
    let deliveries = (0..25).map(|id| {
        let transport = Arc::clone(&transport);
        async move { transport.deliver(&[event(id)]).await }
    });
    let results: Vec<_> = stream::iter(deliveries)
        .buffer_unordered(25)
        .collect()
        .await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    let requests = requests.lock().unwrap();
    assert!((3..=5).contains(&requests.len()), "{}", requests.len());
    let mut ids = Vec::new();
    for (headers, body) in &*requests {
        assert_eq!(
            headers["content-type"],
            "application/cloudevents-batch+json"
        );
        Webhook::new(SECRET)
            .unwrap()
            .verify(body.as_bytes(), headers)
            .unwrap();
        let events: Vec<Value> = serde_json::from_str(body).unwrap();
        assert!(events.len() <= 10);
        ids.extend(
            events
                .iter()
                .map(|event| event["id"].as_str().unwrap().to_owned()),
        );
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 25);
}

#[tokio::test]
async fn an_event_that_the_receiver_refuses_holds_no_other_of_its_batch() {
    let is_bad = |body: &str| body.contains("\"7/copy");
    let (address, _) =
        receive_with(move |body| respond(if is_bad(body) { 422 } else { 200 }, &[], "")).await;
    let transport = Arc::new(webhook(address, Some(20)));
    let deliveries = (0..12).map(|id| {
        let transport = Arc::clone(&transport);
        async move { (id, transport.deliver(&[event(id)]).await) }
    });
    let results: Vec<_> = stream::iter(deliveries)
        .buffer_unordered(12)
        .collect()
        .await;
    let failed = results.iter().filter(|(_, result)| result.is_err());
    assert_eq!(failed.map(|(id, _)| *id).collect::<Vec<_>>(), [7]);
}

#[tokio::test]
async fn a_receiver_that_is_gone_or_busy_says_what_follows() {
    assert_eq!(
        failure(|| respond(410, &[], "closed")).await,
        DeliveryError::Ended("the receiver answers 410 Gone: closed".to_owned())
    );
    for (status, value, expected) in [
        (429, "120", Some(120)),
        (503, "999999999", Some(86_400)),
        (429, "Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
        (503, "soon", None),
        (500, "120", None),
    ] {
        let error = failure(move || respond(status, &[("retry-after", value)], "")).await;
        let pause = match &error {
            DeliveryError::Later { pause, .. } => Some(pause.as_secs()),
            _ => None,
        };
        assert_eq!(pause, expected, "{error:?}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let location = [("location", "http://169.254.169.254/latest/meta-data")];
    for status in [301, 302, 307, 308] {
        let error = failure(move || respond(status, &location, ""))
            .await
            .to_string();
        assert!(error.contains("redirects are not followed"), "{error}");
    }
}

#[tokio::test]
async fn an_endless_response_is_cut_and_its_text_has_no_control_characters() {
    let endless = || {
        let line = Bytes::from("no\r\n\u{1b}[31m".repeat(1000));
        let body = Body::from_stream(stream::repeat_with(move || {
            Ok::<_, std::io::Error>(line.clone())
        }));
        axum::http::Response::builder()
            .status(500)
            .body(body)
            .unwrap()
    };
    let begin = Instant::now();
    let error = failure(endless).await.to_string();
    assert!(
        error.len() < 300 && !error.contains(char::is_control),
        "{error}"
    );
    assert!(begin.elapsed() < TIMEOUT);
}

#[tokio::test]
async fn a_success_whose_body_never_ends_is_a_success() {
    let endless = |_: &str| {
        let body = Body::from_stream(stream::pending::<Result<Bytes, std::io::Error>>());
        axum::http::Response::new(body)
    };
    let (address, _) = receive_with(endless).await;
    let begin = Instant::now();
    webhook(address, None).deliver(&[event(1)]).await.unwrap();
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_receiver_that_never_answers_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let transport = webhook(silent.local_addr().unwrap(), None);
    let begin = Instant::now();
    let error = transport
        .deliver(&[event(1)])
        .await
        .unwrap_err()
        .to_string();
    assert!(begin.elapsed() < TIMEOUT + Duration::from_secs(5));
    assert!(!error.contains("/events"), "{error}");
}

#[test]
fn secrets_and_the_rest_of_the_address_are_not_shown() {
    let transport = WebhookTransport::new(WebhookSettings {
        url: "https://example.com/hooks/hunter2?key=hunter2".to_owned(),
        secrets: vec![SECRET.to_owned()],
        batch: None,
        allow_private: false,
    });
    let shown = format!("{:?}", transport.unwrap());
    assert!(
        shown.contains("example.com") && !shown.contains("hunter2"),
        "{shown}"
    );
    for secret in [
        "hunter2",
        "whsec_hunter2",
        "whsec_hunter2hunter2hunter2hunter2hunter2!",
    ] {
        let error = parse_secret(secret).err().unwrap();
        assert!(!error.contains("hunter2"), "{error}");
    }
}
