//! Backups: all events and schemas of a store as lines of JSON.
//!
//! The shape is the protocol's: `{"type":"event","payload":{"event":{…},"hash":"…"}}`, and
//! `{"type":"schema","payload":{"eventType":"…","schema":{…}}}`. The last line is the end mark of this framework:
//! `{"type":"end","payload":{"events":…,"hash":"…","schemas":…,"schemasHash":"…"}}`.

mod end_mark;
mod restore_check;

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream, stream::BoxStream};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use end_mark::{EndMark, LineTally};
pub use restore_check::RestoreFlaw;
#[doc(hidden)]
pub use restore_check::{RestoreCheck, RestoredLine};

use super::{EventStore, ReadOptions, StoreError};
use es_event::{EventType, InvalidStreamLine, LineFormat, RecordedEvent, Subject};

/// One line of a backup.
///
/// ```
/// use es_store::backup::BackupLine;
///
/// let line = br#"{"type":"error","payload":{"error":"the disk is broken"}}"#;
/// let BackupLine::Error(error) = BackupLine::parse_line(line)? else { panic!("it is one") };
/// assert_eq!(error, "the disk is broken");
/// # Ok::<_, es_event::InvalidStreamLine>(())
/// ```
#[derive(Debug)]
pub enum BackupLine {
    /// An event, exactly as it was recorded.
    Event(Box<RecordedEvent>),
    /// The schema of an event type.
    Schema(EventType, Box<RawValue>),
    /// The error of the store. The backup is incomplete.
    Error(String),
    /// The last line. Without it, the end of the backup is missing.
    End(EndMark),
}

/// The payload of a schema line.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SchemaPayload {
    event_type: EventType,
    schema: Box<RawValue>,
}

/// The members of a line, before its `type` is known.
#[derive(Deserialize)]
struct RawLine<'a> {
    r#type: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    payload: &'a RawValue,
}

/// The payload of an error line.
#[derive(Deserialize)]
struct ErrorPayload {
    error: String,
}

impl BackupLine {
    /// Appends the line and its line break.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        match self {
            Self::Event(event) => event.write_backup_line(out),
            Self::Schema(event_type, schema) => {
                let start = br#"{"type":"schema","payload":{"eventType":""#;
                out.extend_from_slice(start);
                // Names of event types contain no characters that JSON escapes.
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
            Self::End(mark) => {
                out.extend_from_slice(br#"{"type":"end","payload":"#);
                // Writing plain values to memory cannot fail.
                let _ = serde_json::to_writer(&mut *out, mark);
                out.extend_from_slice(b"}\n");
            }
        }
    }

    /// Parses one line of a backup: an event, a schema, an error or the end mark.
    ///
    /// # Errors
    /// It is not a line of a backup.
    pub fn parse_line(line: &[u8]) -> Result<Self, InvalidStreamLine> {
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
            "end" => Ok(Self::End(serde_json::from_str(payload.get())?)),
            other => Err(InvalidStreamLine::Type(other.chars().take(40).collect())),
        }
    }
}

/// Reads the content of a store at the moment of the call: its schemas, then its events in order, and the end mark.
/// Later events are excluded. All events follow the schemas, because a store never registers a schema
/// that contradicts an event.
///
/// ```
/// use std::sync::Arc;
///
/// use es_store::{backup, memory::MemoryStore};
/// use futures_util::StreamExt as _;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let empty = backup::stream_lines(Arc::new(MemoryStore::new()));
/// assert_eq!(empty.count().await, 1, "the end mark");
/// # }
/// ```
pub fn stream_lines(
    store: Arc<dyn EventStore>,
) -> BoxStream<'static, Result<BackupLine, StoreError>> {
    let end = |tally: &LineTally| BackupLine::End(tally.end_mark());
    let lines = stream_schemas(&store).chain(stream_events(&store));
    let count = |tally: &mut LineTally, line: &BackupLine| {
        tally.add_line(line);
        Ok(())
    };
    whole(lines, count, end)
}

/// Reads the same content as text, with many lines in a frame.
///
/// ```
/// use std::sync::Arc;
///
/// use es_store::{EventStore, backup, memory::MemoryStore};
/// use futures_util::StreamExt as _;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let store: Arc<dyn EventStore> = Arc::new(MemoryStore::new());
/// assert_eq!(backup::stream_frames(&store).count().await, 1, "the end mark");
/// # }
/// ```
pub fn stream_frames(store: &Arc<dyn EventStore>) -> BoxStream<'static, Result<Bytes, StoreError>> {
    let (root, everything) = (Subject::root(), ReadOptions::recursive());
    let written = store.read_lines(&root, &everything, LineFormat::Backup);
    // Each schema has a frame of its own, because it can be large.
    let schemas = stream_schemas(store).map_ok(BackupFrame::of_line);
    let events = match written {
        Some(events) => events.map_ok(BackupFrame::Events).boxed(),
        None => {
            let events = stream_events(store).ready_chunks(LINES);
            events.flat_map(|lines| stream::iter(joined(lines))).boxed()
        }
    };
    let address = store.description();
    let count = move |tally: &mut LineTally, frame: &BackupFrame| match frame {
        BackupFrame::Line(line, _) => {
            tally.add_line(line);
            Ok(())
        }
        BackupFrame::Events(lines) => {
            let added = tally.add_event_lines(lines);
            added.map_err(|reason| StoreError::Corrupt {
                address: address.clone(),
                reason,
            })
        }
    };
    let end = |tally: &LineTally| BackupFrame::of_line(BackupLine::End(tally.end_mark()));
    whole(schemas.chain(events), count, end)
        .map_ok(BackupFrame::into_bytes)
        .boxed()
}

/// Lines of a backup, as text.
enum BackupFrame {
    /// One line that is no event.
    Line(BackupLine, Bytes),
    /// Lines of events.
    Events(Bytes),
}

impl BackupFrame {
    fn of_line(line: BackupLine) -> Self {
        let mut text = Vec::new();
        line.append_to(&mut text);
        Self::Line(line, text.into())
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Self::Line(_, text) | Self::Events(text) => text,
        }
    }
}

/// Reads the schemas of a store, as lines of a backup.
#[doc(hidden)]
pub fn stream_schemas(
    store: &Arc<dyn EventStore>,
) -> BoxStream<'static, Result<BackupLine, StoreError>> {
    let schemas = store.read_event_types().try_filter_map(async |known| {
        let schema = known.schema;
        Ok(schema.map(|schema| BackupLine::Schema(known.event_type, (*schema).to_owned())))
    });
    schemas.boxed()
}

fn stream_events(
    store: &Arc<dyn EventStore>,
) -> impl Stream<Item = Result<BackupLine, StoreError>> + Send + 'static {
    let events = store.read(Subject::root(), ReadOptions::recursive());
    events.map_ok(|event| BackupLine::Event(Box::new(event)))
}

/// The highest number of available lines in one frame.
const LINES: usize = 256;

/// Joins the lines of events to one frame, followed by the error that ended them.
fn joined(lines: Vec<Result<BackupLine, StoreError>>) -> Vec<Result<BackupFrame, StoreError>> {
    let (mut frame, mut error) = (Vec::new(), None);
    for line in lines {
        match line {
            Ok(line) => line.append_to(&mut frame),
            Err(broken) => {
                error = Some(Err(broken));
                break;
            }
        }
    }
    let frame = (!frame.is_empty()).then(|| Ok(BackupFrame::Events(frame.into())));
    frame.into_iter().chain(error).collect()
}

/// Counts the parts, and adds the end mark. Ends the stream after an error, because a backup with a gap would look
/// complete.
fn whole<T: Send + 'static>(
    parts: impl Stream<Item = Result<T, StoreError>> + Send + 'static,
    count: impl Fn(&mut LineTally, &T) -> Result<(), StoreError> + Send + 'static,
    end: impl Fn(&LineTally) -> T + Send + 'static,
) -> BoxStream<'static, Result<T, StoreError>> {
    let state = Some((parts.boxed(), LineTally::default(), count, end));
    stream::unfold(state, |state| async {
        let (mut parts, mut tally, count, end) = state?;
        let Some(part) = parts.next().await else {
            return Some((Ok(end(&tally)), None));
        };
        let counted = part.and_then(|part| count(&mut tally, &part).map(|()| part));
        let rest = counted.is_ok().then_some((parts, tally, count, end));
        Some((counted, rest))
    })
    .boxed()
}
