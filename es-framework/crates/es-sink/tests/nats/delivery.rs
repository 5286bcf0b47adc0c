//! Deliveries to a server that runs, that is away, and that is silent.

use std::time::{Duration, Instant};

use async_nats::ConnectOptions;
use es_sink::{NatsTransport, Transport as _};
use serde_json::value::to_raw_value;

use crate::{event, failure, nats_server::NatsServer};

#[tokio::test]
async fn an_event_is_stored_as_a_structured_cloud_event() {
    let Some(server) = NatsServer::start(&[]) else {
        return;
    };
    let stream = server.add_stream(ConnectOptions::new()).await;
    let transport = NatsTransport::new(server.settings()).unwrap();
    transport.deliver(&[event("7")]).await.unwrap();
    let messages = stream.messages().await;
    let [message] = &messages[..] else {
        panic!("{messages:?}")
    };
    assert_eq!(
        message.subject.as_str(),
        "library.com.example.library.CopyAvailable.v1"
    );
    let content_type = message.headers.get("content-type").unwrap().as_str();
    assert_eq!(content_type, "application/cloudevents+json");
    let received: serde_json::Value = serde_json::from_slice(&message.payload).unwrap();
    assert_eq!(received, serde_json::to_value(event("7")).unwrap());
}

#[tokio::test]
async fn a_repeated_delivery_is_stored_once() {
    let Some(server) = NatsServer::start(&[]) else {
        return;
    };
    let stream = server.add_stream(ConnectOptions::new()).await;
    for _ in 0..3 {
        // A new transport is a new process.
        let transport = NatsTransport::new(server.settings()).unwrap();
        transport.deliver(&[event("1"), event("2")]).await.unwrap();
    }
    assert_eq!(stream.ids().await, ["1", "2"]);
}

#[tokio::test]
async fn the_events_of_a_delivery_keep_their_order_while_others_are_on_their_way() {
    let Some(server) = NatsServer::start(&[]) else {
        return;
    };
    let stream = server.add_stream(ConnectOptions::new()).await;
    let transport = std::sync::Arc::new(NatsTransport::new(server.settings()).unwrap());
    let deliveries = (0..20).map(|delivery| {
        let transport = transport.clone();
        let events: Vec<_> = (0..5).map(|n| event(&format!("{delivery}-{n}"))).collect();
        tokio::spawn(async move { transport.deliver(&events).await.unwrap() })
    });
    for delivery in deliveries.collect::<Vec<_>>() {
        delivery.await.unwrap();
    }
    let ids = stream.ids().await;
    assert_eq!(ids.len(), 100);
    for delivery in 0..20 {
        let prefix = format!("{delivery}-");
        let of_delivery: Vec<_> = ids.iter().filter(|id| id.starts_with(&prefix)).collect();
        assert!(of_delivery.is_sorted(), "{of_delivery:?}");
    }
}

#[tokio::test]
async fn a_delivery_succeeds_again_after_the_server_was_killed_and_restarted() {
    let Some(mut server) = NatsServer::start(&[]) else {
        return;
    };
    let stream = server.add_stream(ConnectOptions::new()).await;
    let transport = NatsTransport::new(server.settings()).unwrap();
    transport.deliver(&[event("1")]).await.unwrap();
    server.kill();
    let sentence = failure(transport.deliver(&[event("2")]).await);
    let address = server.url();
    assert!(
        sentence.starts_with(&format!("the connection to {address} ")),
        "{sentence}"
    );
    server.restart();
    deliver_at_last(&transport, "2").await;
    transport.deliver(&[event("3")]).await.unwrap();
    assert_eq!(stream.ids().await, ["1", "2", "3"]);
}

#[tokio::test]
async fn a_server_that_is_away_at_the_start_fails_only_the_deliveries_until_it_runs() {
    let Some(mut server) = NatsServer::stopped(&[]) else {
        return;
    };
    let transport = NatsTransport::new(server.settings()).unwrap();
    let sentence = failure(transport.deliver(&[event("1")]).await);
    assert!(sentence.contains("refused"), "{sentence}");
    server.restart();
    let stream = server.add_stream(ConnectOptions::new()).await;
    transport.deliver(&[event("1")]).await.unwrap();
    assert_eq!(stream.ids().await, ["1"]);
}

#[tokio::test]
async fn without_a_stream_the_error_says_which_one_to_add() {
    let Some(server) = NatsServer::start(&[]) else {
        return;
    };
    let transport = NatsTransport::new(server.settings()).unwrap();
    let sentence = failure(transport.deliver(&[event("1")]).await);
    let address = server.url();
    let expected = format!(
        "{address} has no stream for the NATS subject library.com.example.library.CopyAvailable.v1: add one with the \
         subject `library.>`, and enable JetStream"
    );
    assert_eq!(sentence, expected);
    let stream = server.add_stream(ConnectOptions::new()).await;
    transport.deliver(&[event("1")]).await.unwrap();
    assert_eq!(stream.ids().await, ["1"]);
}

#[tokio::test]
async fn a_silent_server_fails_the_deliveries_in_time_and_stores_each_event_once() {
    let Some(server) = NatsServer::start(&[]) else {
        return;
    };
    let stream = server.add_stream(ConnectOptions::new()).await;
    let transport = NatsTransport::new(server.settings()).unwrap();
    transport.deliver(&[event("1")]).await.unwrap();
    server.pause();
    let begin = Instant::now();
    let (second, third) = ([event("2")], [event("3")]);
    let both = tokio::join!(transport.deliver(&second), transport.deliver(&third));
    server.signal("-CONT");
    assert!(begin.elapsed() < Duration::from_secs(15));
    for sentence in [failure(both.0), failure(both.1)] {
        let ends = sentence.contains("did not acknowledge") || sentence.contains("connection");
        assert!(ends, "{sentence}");
    }
    for id in ["2", "3"] {
        deliver_at_last(&transport, id).await;
    }
    let mut ids = stream.ids().await;
    ids.sort();
    assert_eq!(ids, ["1", "2", "3"]);
}

#[tokio::test]
async fn an_event_that_is_too_large_is_refused_before_it_is_sent() {
    let Some(server) = NatsServer::start(&[]) else {
        return;
    };
    let stream = server.add_stream(ConnectOptions::new()).await;
    let transport = NatsTransport::new(server.settings()).unwrap();
    let mut large = event("1");
    large.data = to_raw_value(&"x".repeat(2_000_000)).unwrap().into();
    let sentence = failure(transport.deliver(&[large]).await);
    assert!(sentence.contains("max payload"), "{sentence}");
    transport.deliver(&[event("2")]).await.unwrap();
    assert_eq!(stream.ids().await, ["2"]);
}

/// Delivers an event as an engine does: again until it succeeds.
async fn deliver_at_last(transport: &NatsTransport, id: &str) {
    let begin = Instant::now();
    while let Err(error) = transport.deliver(&[event(id)]).await {
        assert!(begin.elapsed() < Duration::from_secs(60), "{error}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
