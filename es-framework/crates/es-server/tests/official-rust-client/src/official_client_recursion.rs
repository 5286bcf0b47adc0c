//! The official client for Rust over version 2: what only version 2 offers.

use std::time::Duration;

use eventsourcingdb::{
    Client, EventCandidate, Precondition, PreconditionOptions,
    error::{ClientError, code},
    request_options::{ObserveEventsOptions, ReadEventsOptions},
};
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde_json::json;
use tokio::{task::spawn_blocking, time::timeout};

use crate::{official_clients_over_version_2 as version_2, served_client::ServedClient};

const LIMIT: Duration = Duration::from_secs(20);

/// A client of a server that writes hashes of version 2.
async fn client() -> ServedClient {
    ServedClient::of(version_2::start(&["--hash-version=2"]).await)
}

fn candidate(subject: &str) -> EventCandidate {
    EventCandidate::builder()
        .source("https://www.eventsourcingdb.io".to_string())
        .data(json!({"value": 1.50}))
        .subject(subject.to_string())
        .ty("io.eventsourcingdb.test".to_string())
        .build()
}

async fn write(client: &Client, subject: &str, condition: Precondition) -> Result<(), String> {
    let writing = client.write_events(vec![candidate(subject)], vec![condition]);
    match timeout(LIMIT, writing).await.unwrap() {
        Ok(_) => Ok(()),
        Err(ClientError::DbApiError(error)) => Err(error.code),
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn preconditions_hold_for_all_subjects_below_one() {
    let client = client().await;
    let recursive = || Some(PreconditionOptions { recursive: true });
    let pristine = || Precondition::is_subject_pristine("/orders/42", recursive());
    let populated = || Precondition::is_subject_populated("/orders/42", recursive());
    let on = |id: &str| Precondition::is_subject_on_event_id("/orders/42", id, recursive());
    let violated = || Err(code::PRECONDITION_VIOLATED.to_owned());
    assert_eq!(write(&client, "/orders/420", pristine()).await, Ok(()));
    assert_eq!(write(&client, "/orders/420", populated()).await, violated());
    assert_eq!(
        write(&client, "/orders/42/items/1", pristine()).await,
        Ok(())
    );
    assert_eq!(
        write(&client, "/orders/42/items/2", pristine()).await,
        violated()
    );
    assert_eq!(
        write(&client, "/orders/42/items/2", on("0")).await,
        violated()
    );
    assert_eq!(write(&client, "/orders/42/items/2", on("1")).await, Ok(()));
    assert_eq!(write(&client, "/orders/42", populated()).await, Ok(()));
    assert_eq!(write(&client, "/orders/42", on("3")).await, Ok(()));
}

#[tokio::test]
async fn it_verifies_hashes_of_version_2() {
    let client = client().await;
    let candidates = vec![candidate("/a"), candidate("/b")];
    let writing = timeout(LIMIT, client.write_events(candidates, vec![]));
    let written = writing.await.unwrap().unwrap();
    let options = ReadEventsOptions {
        recursive: true,
        ..ReadEventsOptions::default()
    };
    let read = timeout(LIMIT, client.read_events("/", Some(options)))
        .await
        .unwrap();
    let read: Vec<_> = read.unwrap().try_collect().await.unwrap();
    assert_eq!(read, written);
    for event in &read {
        assert!(
            event.hash().starts_with("esdb:hash:v2:"),
            "{}",
            event.hash()
        );
        event.verify_hash().unwrap();
    }
}

#[tokio::test]
async fn an_observation_tells_that_the_server_shuts_down() {
    let client = client().await;
    let options = ObserveEventsOptions {
        recursive: true,
        ..ObserveEventsOptions::default()
    };
    let observing = timeout(LIMIT, client.observe_events("/", Some(options)));
    let mut events = observing.await.unwrap().unwrap();
    let written = client
        .write_events(vec![candidate("/a")], vec![])
        .await
        .unwrap();
    let seen = timeout(LIMIT, events.next()).await.unwrap();
    assert_eq!(seen.unwrap().unwrap(), written[0]);
    let ending = spawn_blocking(|| client.server.terminate());
    let last = timeout(LIMIT, events.next()).await.unwrap();
    match last {
        Some(Err(ClientError::DbApiError(error))) => {
            assert_eq!(error.code, code::SERVER_SHUTTING_DOWN);
        }
        other => panic!("{other:?}"),
    }
    timeout(LIMIT, ending).await.unwrap().unwrap();
}
