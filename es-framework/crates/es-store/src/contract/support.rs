//! Functions that the rules of the contract share.

use std::{future::Future, time::Duration};

use futures_util::{StreamExt as _, TryStreamExt as _};
use serde_json::value::RawValue;

use crate::{AppendError, EventStore, EventStream, Precondition, ReadOptions};
use es_event::{EventCandidate, EventId, EventType, RecordedEvent, Subject};

/// Far longer than any rule takes: a store that hangs fails instead of blocking the run.
const LIMIT: Duration = Duration::from_secs(60);

pub(super) async fn within_time(rule: &str, check: impl Future<Output = ()>) {
    let done = tokio::time::timeout(LIMIT, check).await;
    assert!(done.is_ok(), "{rule}: the store hangs");
}

pub(super) fn subject(text: &str) -> Subject {
    text.parse().unwrap()
}

pub(super) fn event_type(name: &str) -> EventType {
    format!("io.example.contract.{name}").parse().unwrap()
}

pub(super) fn id(number: u64) -> EventId {
    EventId::new(number).unwrap()
}

pub(super) fn candidate(at: &str, name: &str, data: &str) -> EventCandidate {
    EventCandidate {
        source: "tag:example.io,2026:contract".into(),
        subject: subject(at),
        event_type: event_type(name),
        data: RawValue::from_string(data.to_owned()).unwrap(),
        trace: None,
    }
}

/// Writes one event named `happened` to each subject, each in an append of its own.
pub(super) async fn write(store: &impl EventStore, subjects: &[&str]) -> Vec<RecordedEvent> {
    let mut written = Vec::new();
    for at in subjects {
        let recorded = append(store, vec![candidate(at, "happened", "{}")], vec![]).await;
        written.extend(recorded.unwrap());
    }
    written
}

pub(super) async fn append(
    store: &impl EventStore,
    candidates: Vec<EventCandidate>,
    preconditions: Vec<Precondition>,
) -> Result<Vec<RecordedEvent>, AppendError> {
    store.append(candidates, preconditions).await
}

pub(super) async fn read(
    store: &impl EventStore,
    at: &str,
    options: ReadOptions,
) -> Vec<RecordedEvent> {
    store
        .read(subject(at), options)
        .try_collect()
        .await
        .unwrap()
}

pub(super) async fn read_all(store: &impl EventStore) -> Vec<RecordedEvent> {
    read(store, "/", ReadOptions::recursive()).await
}

pub(super) fn ids(events: &[RecordedEvent]) -> Vec<u64> {
    events.iter().map(|event| event.id.get()).collect()
}

/// Returns the next `count` events of an endless stream.
pub(super) async fn next_events(stream: &mut EventStream, count: usize) -> Vec<RecordedEvent> {
    stream.take(count).try_collect().await.unwrap()
}

/// Fails if an event arrives within a time that is long enough for an event that is due.
pub(super) async fn assert_silent(stream: &mut EventStream) {
    let event = tokio::time::timeout(Duration::from_millis(150), stream.next()).await;
    assert!(event.is_err(), "an event that nobody asked for: {event:?}");
}
