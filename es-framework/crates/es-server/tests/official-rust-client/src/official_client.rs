//! The official client for Rust against this server.

use std::{future::Future, io::Write as _, time::Duration};

use ed25519_dalek::VerifyingKey;
use eventsourcingdb::{
    Client, Event, EventCandidate, Precondition, TraceInfo,
    error::{ClientError, code},
    request_options::{
        Bound, BoundType, ObserveEventMissingStrategy, ObserveEventsOptions,
        ObserveFromLatestEventOptions, Ordering, ReadEventMissingStrategy, ReadEventsOptions,
        ReadFromLatestEventOptions,
    },
};
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde_json::json;
use tokio::{task::spawn_blocking, time::timeout};

use crate::{served_client::ServedClient, server_process::TOKEN};

/// Far longer than any answer takes: a server that hangs fails instead of blocking the run.
const LIMIT: Duration = Duration::from_secs(20);

async fn within_time<T>(work: impl Future<Output = T>) -> T {
    timeout(LIMIT, work).await.expect("the server hangs")
}

async fn client() -> ServedClient {
    ServedClient::of(super::start(&[]).await)
}

fn candidate(subject: &str, value: u32) -> EventCandidate {
    EventCandidate::builder()
        .source("https://www.eventsourcingdb.io".to_string())
        .data(json!({"value": value, "text": "<&> é 😀", "n": 1.5}))
        .subject(subject.to_string())
        .ty("io.eventsourcingdb.test".to_string())
        .build()
}

async fn write(client: &Client, subjects: &[&str]) -> Vec<Event> {
    let candidates = subjects.iter().zip(0..);
    let candidates = candidates.map(|(subject, value)| candidate(subject, value));
    let written = client.write_events(candidates.collect(), vec![]);
    within_time(written).await.unwrap()
}

async fn read(client: &Client, subject: &str, options: ReadEventsOptions<'_>) -> Vec<Event> {
    let events = within_time(client.read_events(subject, Some(options))).await;
    within_time(events.unwrap().try_collect()).await.unwrap()
}

fn recursive() -> ReadEventsOptions<'static> {
    ReadEventsOptions {
        recursive: true,
        ..ReadEventsOptions::default()
    }
}

fn code_of(error: Option<ClientError>) -> String {
    match error {
        Some(ClientError::DbApiError(error)) => error.code,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn it_pings() {
    within_time(client().await.ping()).await.unwrap();
}

#[tokio::test]
async fn it_verifies_its_token() {
    let right = client().await;
    within_time(right.verify_api_token()).await.unwrap();
    let wrong = Client::new(right.server.url.parse().unwrap(), "wrong-token");
    let refused = within_time(wrong.verify_api_token()).await;
    assert!(
        matches!(&refused, Err(ClientError::DbApiError(error)) if error.status == 401),
        "{refused:?}"
    );
}

#[tokio::test]
async fn it_writes_and_reads_events_whose_hashes_form_a_chain() {
    let client = client().await;
    let mut traced = candidate("/test", 7);
    traced.traceinfo = Some(TraceInfo::WithState {
        traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".to_string(),
        tracestate: "vendor=value".to_string(),
    });
    let sent = vec![candidate("/test", 1), traced];
    let written = within_time(client.write_events(sent.clone(), vec![])).await;
    let written = written.unwrap();
    assert_eq!(read(&client, "/test", recursive()).await, written);
    let mut predecessor = "0".repeat(64);
    for (event, sent) in written.iter().zip(&sent) {
        assert_eq!(event.data(), &sent.data);
        assert_eq!(event.traceinfo(), sent.traceinfo.as_ref());
        assert_eq!(event.predecessorhash(), predecessor);
        event.verify_hash().unwrap();
        assert_eq!(event.hash().len(), 64);
        assert_eq!(event.signature(), None);
        predecessor = event.hash().to_owned();
    }
}

#[tokio::test]
async fn it_reads_without_options() {
    let client = client().await;
    let written = write(&client, &["/a", "/a/b"]).await;
    let events = within_time(client.read_events("/a", None)).await.unwrap();
    let events: Vec<_> = within_time(events.try_collect()).await.unwrap();
    assert_eq!(events, written[..1]);
}

#[tokio::test]
async fn it_reads_within_bounds_in_both_orders() {
    let client = client().await;
    let written = write(&client, &["/a", "/a", "/a", "/a"]).await;
    let bound = |bound_type, id| Some(Bound { bound_type, id });
    let options = ReadEventsOptions {
        lower_bound: bound(BoundType::Exclusive, "0"),
        upper_bound: bound(BoundType::Inclusive, "2"),
        ..recursive()
    };
    assert_eq!(read(&client, "/", options).await, written[1..=2]);
    let options = ReadEventsOptions {
        lower_bound: bound(BoundType::Inclusive, "2"),
        order: Some(Ordering::Antichronological),
        ..recursive()
    };
    let backwards = read(&client, "/", options).await;
    assert_eq!(backwards, [written[3].clone(), written[2].clone()]);
}

#[tokio::test]
async fn it_reads_from_the_latest_event() {
    let client = client().await;
    let written = write(&client, &["/a", "/b", "/a", "/b"]).await;
    let from = |subject, if_event_is_missing| ReadEventsOptions {
        from_latest_event: Some(ReadFromLatestEventOptions {
            if_event_is_missing,
            subject,
            ty: "io.eventsourcingdb.test",
        }),
        ..recursive()
    };
    let latest = from("/a", ReadEventMissingStrategy::ReadNothing);
    assert_eq!(read(&client, "/", latest).await, written[2..]);
    let nothing = from("/c", ReadEventMissingStrategy::ReadNothing);
    assert_eq!(read(&client, "/", nothing).await, []);
    let everything = from("/c", ReadEventMissingStrategy::ReadEverything);
    assert_eq!(read(&client, "/", everything).await, written);
    let behind = ReadEventsOptions {
        upper_bound: Some(Bound {
            bound_type: BoundType::Inclusive,
            id: "1",
        }),
        ..from("/a", ReadEventMissingStrategy::ReadNothing)
    };
    // Version 2 reports it within the stream.
    let events = async {
        client
            .read_events("/", Some(behind))
            .await?
            .try_collect()
            .await
    };
    let refused: Result<Vec<Event>, ClientError> = within_time(events).await;
    assert_eq!(code_of(refused.err()), code::RANGE_UNSATISFIABLE);
}

#[tokio::test]
async fn it_writes_under_preconditions() {
    let client = client().await;
    write(&client, &["/a", "/a"]).await;
    for (precondition, holds) in [
        (Precondition::is_subject_pristine("/a", None), false),
        (Precondition::is_subject_pristine("/new", None), true),
        (Precondition::is_subject_populated("/b", None), false),
        (Precondition::is_subject_populated("/a", None), true),
        (Precondition::is_subject_on_event_id("/a", "0", None), false),
        (Precondition::is_subject_on_event_id("/a", "1", None), true),
    ] {
        let writing = client.write_events(vec![candidate("/other", 0)], vec![precondition]);
        match within_time(writing).await {
            Ok(written) => assert!(holds, "{written:?}"),
            Err(error) => {
                assert!(!holds, "{error}");
                assert_eq!(code_of(Some(error)), code::PRECONDITION_VIOLATED);
            }
        }
    }
}

#[tokio::test]
async fn it_hears_what_is_wrong_with_an_event() {
    let client = client().await;
    let writing = client.write_events(vec![candidate("no slash", 0)], vec![]);
    match within_time(writing).await {
        Err(ClientError::DbApiError(error)) => {
            let expected = if super::IS_VERSION_2 { 200 } else { 400 };
            assert_eq!(error.status, expected);
            assert!(error.description.contains("subject"), "{error:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn it_observes_stored_and_new_events() {
    let client = client().await;
    let stored = write(&client, &["/a", "/a/b", "/c"]).await;
    let options = ObserveEventsOptions {
        recursive: true,
        ..ObserveEventsOptions::default()
    };
    let observing = client.observe_events("/a", Some(options));
    let mut events = within_time(observing).await.unwrap();
    for event in &stored[..2] {
        let seen = within_time(events.next()).await.unwrap().unwrap();
        assert_eq!(&seen, event);
    }
    // The pause is long enough for heartbeats.
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let new = write(&client, &["/c", "/a"]).await;
    let seen = within_time(events.next()).await.unwrap().unwrap();
    assert_eq!(seen, new[1]);
}

#[tokio::test]
async fn it_waits_for_the_event_to_observe_from() {
    let client = client().await;
    write(&client, &["/a"]).await;
    let options = ObserveEventsOptions {
        recursive: true,
        from_latest_event: Some(ObserveFromLatestEventOptions {
            if_event_is_missing: ObserveEventMissingStrategy::WaitForEvent,
            subject: "/b",
            ty: "io.eventsourcingdb.test",
        }),
        ..ObserveEventsOptions::default()
    };
    let observing = client.observe_events("/", Some(options));
    let mut events = within_time(observing).await.unwrap();
    let written = write(&client, &["/a", "/b", "/a"]).await;
    for expected in &written[1..] {
        let seen = within_time(events.next()).await.unwrap().unwrap();
        assert_eq!(&seen, expected);
    }
}

#[tokio::test]
async fn it_reports_an_observation_that_a_shutdown_interrupts() {
    let client = client().await;
    let mut events = within_time(client.observe_events("/a", None))
        .await
        .unwrap();
    let written = write(&client, &["/a"]).await;
    let seen = within_time(events.next()).await.unwrap().unwrap();
    assert_eq!(seen, written[0]);
    let ending = spawn_blocking(|| client.server.terminate());
    let end = within_time(events.next()).await.unwrap();
    assert!(end.is_err(), "{end:?}");
    within_time(ending).await.unwrap();
}

#[tokio::test]
async fn it_stays_with_an_idle_observation_for_the_heartbeats() {
    let server = super::start(&[]).await;
    let client = Client::builder(server.url.parse().unwrap(), TOKEN)
        .stall_timeout(Duration::from_millis(2_000))
        .build();
    let observing = client.observe_events("/a", None);
    let mut events = within_time(observing).await.unwrap();
    tokio::select! {
        event = events.next() => panic!("{event:?}"),
        () = tokio::time::sleep(Duration::from_millis(3_500)) => {}
    }
}

#[tokio::test]
async fn it_verifies_signatures() {
    // The first test key of RFC 8032, section 7.1.
    const PEM: &str = "-----BEGIN PRIVATE KEY-----\n\
        MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n\
        -----END PRIVATE KEY-----\n";
    const PUBLIC: [u8; 32] = [
        0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07,
        0x3a, 0x0e, 0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07,
        0x51, 0x1a,
    ];
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(PEM.as_bytes()).unwrap();
    let key = file.path().to_str().unwrap();
    let server = super::start(&["--signing-key-file", key]).await;
    let client = ServedClient::of(server);
    let written = write(&client, &["/a", "/b"]).await;
    let read = read(&client, "/", recursive()).await;
    let public = VerifyingKey::from_bytes(&PUBLIC).unwrap();
    assert_eq!(read, written);
    for event in written.iter().chain(&read) {
        event.verify_signature(&public).unwrap();
    }
}
