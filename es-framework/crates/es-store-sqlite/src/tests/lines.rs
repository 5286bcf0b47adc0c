//! Lines written from rows equal lines written from events.

use std::sync::Arc;

use futures_util::TryStreamExt as _;
use rusqlite::Connection;
use serde_json::value::RawValue;
use tempfile::TempDir;

use super::{candidate, support::tiny};
use crate::{EmbeddedStore, store_settings::EngineSettings};
use es_event::{
    Dialect, EventCandidate, EventId, LineFormat, RecordedEvent, Subject, TraceContext,
    compact_object,
};
use es_store::{
    Bound, EventLog as _, EventSchema, EventStore, Order, ReadOptions, StoreCatalog as _,
    StoreError,
    backup::{self, BackupLine},
};

const SHAPES: [LineFormat; 4] = [
    LineFormat::Stream(Dialect::Item),
    LineFormat::Stream(Dialect::Event),
    LineFormat::Envelope,
    LineFormat::Backup,
];

async fn lines(
    store: &EmbeddedStore,
    at: &Subject,
    options: &ReadOptions,
    shape: LineFormat,
) -> Result<String, StoreError> {
    let frames = store.read_lines(at, options, shape).unwrap();
    let frames: Vec<_> = frames.try_collect().await?;
    assert!(frames.iter().all(|frame| frame.ends_with(b"\n")));
    Ok(String::from_utf8(frames.concat()).unwrap())
}

fn written(events: &[RecordedEvent], shape: LineFormat) -> String {
    let mut text = Vec::new();
    for event in events {
        match shape {
            LineFormat::Stream(dialect) => dialect.write_line(event, None, &mut text),
            LineFormat::Envelope => event.write_envelope_line(None, &mut text),
            LineFormat::Backup => BackupLine::Event(Box::new(event.clone())).append_to(&mut text),
        }
    }
    String::from_utf8(text).unwrap()
}

/// Asserts that both ways to read return the same bytes.
pub(super) async fn assert_same(store: &EmbeddedStore, at: &Subject, options: &ReadOptions) {
    let events = store.read(at.clone(), options.clone());
    let events: Vec<_> = events.try_collect().await.unwrap();
    for shape in SHAPES {
        let lines = lines(store, at, options, shape).await.unwrap();
        assert_eq!(lines, written(&events, shape), "{at} {options:?}");
    }
}

/// Returns one event for each special case of a line.
fn odd() -> Vec<EventCandidate> {
    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let with = |change: &dyn Fn(&mut EventCandidate)| {
        let mut candidate = candidate("/odd", 0);
        change(&mut candidate);
        candidate
    };
    let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
    let trace = |state| TraceContext::new(Some(PARENT), state).unwrap();
    let mut odd = vec![
        with(&|_| {}),
        with(&|odd| odd.trace = trace(None)),
        with(&|odd| odd.trace = trace(Some("vendor=\"quoted\\\" é=😀"))),
        with(&|odd| odd.source = "a \"quoted\\ \u{1} source / ü \u{7f}\u{2028} 😀".into()),
        with(&|odd| odd.source = "".into()),
        with(&|odd| odd.subject = Subject::root()),
        with(&|odd| odd.subject = "/a/".parse().unwrap()),
        with(&|odd| odd.event_type = "io.other-example.Some_Type.v2".parse().unwrap()),
        with(&|odd| odd.event_type = "io.example.Happened".parse().unwrap()),
        with(&|odd| odd.data = raw("{ \"spaces\": [ 1 , 2 ] }")),
        with(&|odd| odd.data = raw("{\"lines\":\n1}")),
    ];
    for data in [
        r#"{"text":"Ünïcödé 😀 \u0001\"\\\/ \ud83d\ude00"}"#,
        r#"{"a":{"b":[1e300,-0.5,null,true,"}"]}}"#,
        &format!(r#"{{"long":"{}"}}"#, "x".repeat(70_000)),
    ] {
        odd.push(with(&|odd| odd.data = compact_object(&raw(data)).unwrap()));
    }
    odd
}

#[tokio::test]
async fn odd_events_are_written_the_same_either_way() {
    for settings in [tiny(), EngineSettings::default()] {
        let store = EmbeddedStore::temporary_with(settings).unwrap();
        for candidate in odd() {
            store.append(vec![candidate], vec![]).await.unwrap();
        }
        let event = &store.append(odd(), vec![]).await.unwrap()[2];
        assert!(event.trace.as_ref().is_some_and(|t| t.state().is_some()));
        for order in [Order::Chronological, Order::Antichronological] {
            let options = ReadOptions {
                order,
                ..ReadOptions::recursive()
            };
            assert_same(&store, &Subject::root(), &options).await;
        }
        let odd = "/odd".parse().unwrap();
        assert_same(&store, &odd, &ReadOptions::default()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_read_is_the_same_however_its_chunks_end() {
    let mut settings = EngineSettings::default();
    for frame in [1, 50_000, 1 << 20] {
        settings.chunk.frame = frame;
        let store = EmbeddedStore::temporary_with(settings).unwrap();
        for first in (0..2_500).step_by(500) {
            let batch = (first..first + 500).map(|number| candidate("/a", number));
            store.append(batch.collect(), vec![]).await.unwrap();
        }
        for order in [Order::Chronological, Order::Antichronological] {
            let bounds = [None, EventId::new(700).map(Bound::Inclusive)];
            for lower_bound in bounds {
                let options = ReadOptions {
                    order,
                    lower_bound,
                    ..ReadOptions::recursive()
                };
                assert_same(&store, &Subject::root(), &options).await;
            }
        }
    }
}

#[tokio::test]
async fn a_backup_as_text_is_its_lines() {
    let store = EmbeddedStore::temporary_with(tiny()).unwrap();
    store.append(odd(), vec![]).await.unwrap();
    let schema = EventSchema::parse(r#"{"type":"object","properties":{}}"#).unwrap();
    let planned = store.register_event_schema("io.example.Planned".parse().unwrap(), schema);
    planned.await.unwrap();
    let store: Arc<dyn EventStore> = Arc::new(store);
    let frames: Vec<_> = backup::stream_frames(&store).try_collect().await.unwrap();
    let mut written = Vec::new();
    let lines = backup::stream_lines(Arc::clone(&store))
        .try_collect::<Vec<_>>()
        .await;
    for line in lines.unwrap() {
        line.append_to(&mut written);
    }
    assert_eq!(frames.concat(), written);
}

/// Changes the rows of a closed store and returns the lines of a read.
async fn after(change: &str) -> Result<String, StoreError> {
    let directory = TempDir::new().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    for number in 0..3 {
        let recorded = store.append(vec![candidate("/a", number)], vec![]).await;
        recorded.unwrap();
    }
    drop(store);
    let file = Connection::open(directory.path().join("events.sqlite")).unwrap();
    file.execute_batch(change).unwrap();
    drop(file);
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let (root, everything) = (Subject::root(), ReadOptions::recursive());
    lines(&store, &root, &everything, SHAPES[0]).await
}

#[tokio::test]
async fn a_broken_row_is_named_and_never_written() {
    for (column, value) in [
        ("subject", "'a b'"),
        ("subject", "'/ä'"),
        ("type", "'x'"),
        ("time", "'now'"),
        ("hash", "x'00'"),
        ("predecessor_hash", "x'00'"),
        ("data", "'{'"),
        ("data", "cast(x'7bff7d' as text)"),
    ] {
        let change = format!("UPDATE events SET checksum = NULL, {column} = {value} WHERE id = 0");
        let error = after(&change).await.unwrap_err().to_string();
        assert!(
            error.contains("event 0 is damaged: it has a broken"),
            "{change}: {error}"
        );
    }
    let error = after("DELETE FROM events WHERE id = 1").await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("event 1 is damaged: it is missing"),
        "{error}"
    );
}
