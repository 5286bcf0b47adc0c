//! The version of the API that the client uses.

use std::sync::atomic::Ordering;

use futures_util::TryStreamExt as _;

use super::{
    ClientSettings, EventSourcingDbStore, TOKEN, candidate,
    hostile::{answer, client},
    test_server::TestServer,
};
use crate::detected_version::ApiVersion;
use es_event::{Dialect, Subject};
use es_store::{EventLog as _, Precondition, ReadOptions, StoreCatalog as _, StoreError};

async fn used(store: &EventSourcingDbStore) -> ApiVersion {
    store.http_client.version().await.unwrap()
}

async fn count(store: &EventSourcingDbStore) -> Result<usize, StoreError> {
    let read = store.read(Subject::root(), ReadOptions::recursive());
    Ok(read.try_collect::<Vec<_>>().await?.len())
}

#[tokio::test]
async fn version_2_is_preferred() {
    let server = TestServer::start(Dialect::Item).await;
    let store = EventSourcingDbStore::new(ClientSettings::new(server.url(), TOKEN)).unwrap();
    assert_eq!(count(&store).await.unwrap(), 0);
    assert_eq!(used(&store).await, ApiVersion::V2);
}

#[tokio::test]
async fn a_health_check_notices_an_upgrade_and_a_request_a_downgrade() {
    let server = TestServer::start(Dialect::Event).await;
    let front = server.version_1_front().await;
    let store = EventSourcingDbStore::new(ClientSettings::new(&front.url, TOKEN)).unwrap();
    let below = Precondition::SubtreeIsPristine("/a".parse().unwrap());
    let written = store.append(vec![candidate("/a/b", "{}")], vec![below.clone()]);
    written.await.unwrap();
    assert_eq!(used(&store).await, ApiVersion::V1);
    front.is_upgraded.store(true, Ordering::Relaxed);
    assert_eq!(used(&store).await, ApiVersion::V1);
    store.health().await.unwrap();
    assert_eq!(used(&store).await, ApiVersion::V2);
    let refused = store
        .append(vec![candidate("/a/c", "{}")], vec![below])
        .await;
    assert!(refused.is_err());
    front.is_upgraded.store(false, Ordering::Relaxed);
    assert!(count(&store).await.is_err(), "this request learns of it");
    assert_eq!(count(&store).await.unwrap(), 1);
    assert_eq!(used(&store).await, ApiVersion::V1);
}

#[tokio::test]
async fn a_ping_that_is_no_answer_is_an_error_and_not_remembered() {
    let ping = r#"{"type":"event","data":{"type":"io.eventsourcingdb.api.ping-received"}}"#;
    for (status, body, server) in [
        ("200 OK", ping, "nginx"),
        ("200 OK", "OK", "EventSourcingDB/1.2"),
        (
            "200 OK",
            r#"{"type":"event","data":{"type":"io.other"}}"#,
            "EventSourcingDB/1.2",
        ),
        ("503 Service Unavailable", "", "EventSourcingDB/1.2"),
        ("401 Unauthorized", "", "EventSourcingDB/1.2"),
    ] {
        let fault = super::hostile::ServerFault::Always(format!(
            "HTTP/1.1 {status}\r\nserver: {server}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        ));
        let store = client(fault).await;
        for _ in 0..2 {
            assert!(
                store.http_client.version().await.is_err(),
                "{status} {body}"
            );
        }
    }
    let older = client(answer("200 OK", "")).await;
    assert_eq!(used(&older).await, ApiVersion::V1);
}

/// A response to a write of version 2.
async fn written(body: &str) -> Result<usize, es_store::AppendError> {
    let ping = r#"{"type":"event","data":{"type":"io.eventsourcingdb.api.ping-received"}}"#;
    let response = |body: &str| {
        let length = body.len();
        format!(
            "HTTP/1.1 200 OK\r\nserver: EventSourcingDB/1.3\r\ncontent-length: {length}\r\n\r\n{body}"
        )
    };
    let fault = super::hostile::ServerFault::Version2 {
        ping: response(ping),
        then: response(body),
    };
    let store = client(fault).await;
    let written = store.append(vec![candidate("/a", "{}")], vec![]).await?;
    Ok(written.len())
}

#[tokio::test]
async fn a_write_of_version_2_is_known_only_after_its_last_line() {
    use es_store::AppendError;

    let error = |slug: &str| {
        format!(
            "{{\"type\":\"error\",\"data\":{{\"code\":\"https://docs.eventsourcingdb.io/errors/{slug}\",\"description\":\"words\",\"details\":{{}}}}}}\n"
        )
    };
    let heartbeat = "{\"type\":\"heartbeat\",\"data\":{}}\n";
    for unknown in ["", heartbeat, "{\"type\":\"end\",\"data\":{}}\n", "<html>"] {
        let outcome = written(unknown).await.unwrap_err();
        assert!(
            matches!(outcome, AppendError::Unknown { .. }),
            "{outcome:?}"
        );
    }
    let violated = written(&(heartbeat.to_owned() + &error("precondition-violated"))).await;
    assert!(
        matches!(violated, Err(AppendError::Conflict(_))),
        "{violated:?}"
    );
    let schema = written(&error("event-schema-violated")).await;
    assert!(matches!(schema, Err(AppendError::Schema(_))), "{schema:?}");
    for (slug, is_transient) in [
        ("disk-full", true),
        ("store-failed", true),
        ("source-malformed", false),
    ] {
        let Err(AppendError::Store(error)) = written(&error(slug)).await else {
            panic!("{slug}")
        };
        assert_eq!(error.is_transient(), is_transient, "{slug}");
        assert!(error.to_string().contains("words"), "{error}");
    }
}
