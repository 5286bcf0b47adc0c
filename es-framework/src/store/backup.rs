//! Backups: all events and schemas of a store as lines of JSON, and back.
//!
//! The shape is the protocol's: `{"type":"event","payload":{"event":{…},"hash":"…"}}`, and
//! `{"type":"schema","payload":{"eventType":"…","schema":{…}}}`.

use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, stream, stream::BoxStream};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{EventStore, ReadOptions, StoreError};
use crate::event::{EventType, InvalidLine, RecordedEvent, Subject};

/// One line of a backup.
#[derive(Debug)]
pub enum BackupLine {
    /// An event, exactly as it was recorded.
    Event(Box<RecordedEvent>),
    /// The schema of an event type.
    Schema(EventType, Box<RawValue>),
    /// What the store ran into: the backup is not whole.
    Error(String),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SchemaPayload {
    event_type: EventType,
    schema: Box<RawValue>,
}

#[derive(Deserialize)]
struct RawLine<'a> {
    r#type: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    payload: &'a RawValue,
}

#[derive(Deserialize)]
struct ErrorPayload {
    error: String,
}

impl BackupLine {
    /// Appends the line, line break included.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Event(event) => event.write_backup_line(out),
            Self::Schema(event_type, schema) => {
                let start = br#"{"type":"schema","payload":{"eventType":""#;
                out.extend_from_slice(start);
                // Names of event types hold nothing that JSON would escape.
                out.extend_from_slice(event_type.as_str().as_bytes());
                out.extend_from_slice(br#"","schema":"#);
                out.extend_from_slice(schema.get().as_bytes());
                out.extend_from_slice(b"}}\n");
            }
            Self::Error(error) => {
                let line = serde_json::json!({"type": "error", "payload": {"error": error}});
                out.extend_from_slice(line.to_string().as_bytes());
                out.push(b'\n');
            }
        }
    }

    /// Reads a line.
    ///
    /// # Errors
    /// It is none of a backup.
    pub fn parse(line: &[u8]) -> Result<Self, InvalidLine> {
        let RawLine { r#type, payload } = serde_json::from_slice(line)?;
        match &*r#type {
            "event" | "item" => {
                let event = RecordedEvent::parse_backup(payload)?;
                Ok(Self::Event(Box::new(event)))
            }
            "schema" | "eventType" => {
                let SchemaPayload { event_type, schema } = serde_json::from_str(payload.get())?;
                Ok(Self::Schema(event_type, schema))
            }
            "error" => {
                let ErrorPayload { error } = serde_json::from_str(payload.get())?;
                Ok(Self::Error(error))
            }
            other => Err(InvalidLine::Type(other.chars().take(40).collect())),
        }
    }
}

/// All that a store holds at the moment of the call: its schemas, then its events in order. What
/// is written meanwhile is not part of it; every event of it follows every schema of it, since a
/// schema that an event contradicts is never registered.
pub fn lines(store: Arc<dyn EventStore>) -> BoxStream<'static, Result<BackupLine, StoreError>> {
    let schemas = store.read_event_types().try_filter_map(async |known| {
        let schema = known.schema;
        Ok(schema.map(|schema| BackupLine::Schema(known.event_type, schema)))
    });
    let events = store.read(Subject::root(), ReadOptions::recursive());
    let events = events.map_ok(|event| BackupLine::Event(Box::new(event)));
    // Nothing follows an error: a backup with a gap would look like a whole one.
    let lines = schemas.chain(events).boxed();
    stream::unfold(Some(lines), |lines| async {
        let mut lines = lines?;
        let line = lines.next().await?;
        let rest = line.is_ok().then_some(lines);
        Some((line, rest))
    })
    .boxed()
}
