//! Events as JSON text, in both shapes that event stores of version 1 of the protocol send.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    DATA_CONTENT_TYPE, InvalidTrace, RecordedEvent, SPEC_VERSION,
    fields::{EventFields, ItemPayload, WholeLine},
    known::Known,
    parts::Parts,
};

/// The shape of events on the wire.
///
/// ```
/// use es_framework::event::{Dialect, EventCandidate, EventId, EventTime, EventType, Hash, RecordedEvent};
/// # use serde_json::{json, value::to_raw_value};
/// # let candidate = EventCandidate {
/// #     source: "library-service".into(),
/// #     subject: "/books/42".parse()?,
/// #     event_type: EventType::declared("com.example.library.BookRemovedEvent"),
/// #     data: to_raw_value(&json!({"payload": {}}))?,
/// #     trace: None,
/// # };
/// # let event = RecordedEvent::record(candidate, EventId::FIRST, EventTime::now(), Hash::ZERO);
///
/// let mut line = Vec::new();
/// Dialect::Item.write_line(&event, None, &mut line);
/// assert!(line.starts_with(br#"{"type":"item","payload":{"event":{"#));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// `{"type":"item","payload":{"event":{…},"hash":"…"}}`, as event stores before version 1.0.
    #[default]
    Item,
    /// `{"type":"event","payload":{…,"hash":"…","signature":null}}`, as version 1.0 and later.
    Event,
}

impl Dialect {
    /// Appends the event as one line of a stream, line break included.
    pub fn write_line(self, event: &RecordedEvent, signature: Option<&str>, out: &mut Vec<u8>) {
        Parts::of(event).write_line(self, signature, out);
    }

    /// Appends the event as an element of the answer to a write. The older shape has neither data
    /// nor hash there.
    pub fn write_recorded(self, event: &RecordedEvent, signature: Option<&str>, out: &mut Vec<u8>) {
        match self {
            Self::Item => Parts::of(event).write_without_data(out),
            Self::Event => Parts::of(event).write_signed(signature, out),
        }
    }
}

impl RecordedEvent {
    /// Appends the event as a line of a backup, line break included: the older shape's payload
    /// under the newer one's name.
    pub(crate) fn write_backup_line(&self, out: &mut Vec<u8>) {
        Parts::of(self).write_backup_line(out);
    }

    /// Reads the payload of such a line.
    pub(crate) fn parse_backup(payload: &RawValue) -> Result<Self, InvalidLine> {
        let ItemPayload { event, hash } = serde_json::from_str(payload.get())?;
        event.with(hash).recorded(&mut Known::default())
    }
}

/// One line of a stream.
///
/// ```
/// use es_framework::event::Line;
///
/// let line = Line::parse(br#"{"type":"heartbeat","payload":{}}"#)?;
/// assert!(matches!(line, Line::Heartbeat));
/// # Ok::<_, es_framework::event::InvalidLine>(())
/// ```
#[derive(Debug)]
pub enum Line {
    /// An event, of either shape.
    Event(Box<RecordedEvent>),
    /// A sign of life.
    Heartbeat,
    /// What went wrong after the stream had begun.
    Error(String),
}

/// A line that is none.
///
/// ```
/// use es_framework::event::{InvalidLine, Line};
///
/// let unknown = Line::parse(br#"{"type":"weather","payload":{}}"#);
/// assert!(matches!(unknown, Err(InvalidLine::Type(kind)) if kind == "weather"));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum InvalidLine {
    /// It is not JSON, or lacks what every event has.
    #[error("a line of the stream is malformed: {0}")]
    Json(#[from] serde_json::Error),
    /// Its trace fields do not follow the W3C recommendation.
    #[error("an event of the stream is malformed: {0}")]
    Trace(#[from] InvalidTrace),
    /// It is of a kind that this version of the protocol does not have.
    #[error("a line of the stream has the unknown type {0:?}")]
    Type(String),
    /// An event has another CloudEvents version or media type.
    #[error(
        "an event of the stream has specversion {specversion:?} and datacontenttype {data_content_type:?}, expected {SPEC_VERSION:?} and {DATA_CONTENT_TYPE:?}"
    )]
    Version {
        /// The version it has.
        specversion: String,
        /// The media type it has.
        data_content_type: String,
    },
}

#[derive(Deserialize)]
struct RawLine<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ErrorPayload {
    error: String,
}

impl Line {
    /// Reads a line of either shape, told apart by its type.
    ///
    /// # Errors
    /// The line is malformed or of an unknown kind.
    pub fn parse(line: &[u8]) -> Result<Self, InvalidLine> {
        LineParser::default().parse(line)
    }
}

/// Reads the lines of a stream.
#[derive(Debug, Default)]
pub(crate) struct LineParser {
    known: Known,
}

impl LineParser {
    /// Reads a line of either shape, told apart by its type.
    pub(crate) fn parse(&mut self, line: &[u8]) -> Result<Line, InvalidLine> {
        if let Some(read) = WholeLine::read(line) {
            return Ok(Line::Event(Box::new(read.recorded(&mut self.known)?)));
        }
        let RawLine { r#type, payload } = serde_json::from_slice(line)?;
        let payload = payload.map_or("null", RawValue::get);
        match &*r#type {
            "event" => {
                let read: EventFields<'_> = serde_json::from_str(payload)?;
                Ok(Line::Event(Box::new(read.recorded(&mut self.known)?)))
            }
            "item" => {
                let ItemPayload { event, hash } = serde_json::from_str(payload)?;
                let read = event.with(hash);
                Ok(Line::Event(Box::new(read.recorded(&mut self.known)?)))
            }
            "heartbeat" => Ok(Line::Heartbeat),
            "error" => {
                let ErrorPayload { error } = serde_json::from_str(payload)?;
                Ok(Line::Error(error))
            }
            other => Err(InvalidLine::Type(other.chars().take(40).collect())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Hash;

    /// A line that a server of the newer shape sent, with a trace and every kind of value.
    const CAPTURED: &str = r#"{"type":"event","payload":{"source":"https://x","subject":"/a","type":"io.x.y","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","specversion":"1.0","id":"0","time":"2026-10-07T13:32:50.439461594Z","datacontenttype":"application/json","predecessorhash":"0000000000000000000000000000000000000000000000000000000000000000","data":{"b":100,"k":{"a":2,"b":1},"n":1.5,"z":"\u003c\u0026\u003e é 😀"},"hash":"a6015b0e09ab312b6ff506e267ad46d6e806f3a13041f948cf5c5ebbf83105f0","signature":null}}"#;

    fn event(line: &str) -> RecordedEvent {
        match Line::parse(line.as_bytes()).unwrap() {
            Line::Event(event) => *event,
            other => panic!("{other:?}"),
        }
    }

    fn line(dialect: Dialect, event: &RecordedEvent) -> String {
        let mut out = Vec::new();
        dialect.write_line(event, None, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_captured_line_verifies_and_is_written_again_to_the_byte() {
        let event = event(CAPTURED);
        assert_eq!(event.verify(Hash::ZERO), Ok(()));
        assert_eq!(line(Dialect::Event, &event), format!("{CAPTURED}\n"));
    }

    #[test]
    fn both_shapes_carry_the_same_event() {
        let given = event(CAPTURED);
        let item = line(Dialect::Item, &given);
        assert!(
            item.starts_with(r#"{"type":"item","payload":{"event":{"source":"#),
            "{item}"
        );
        let read = event(item.trim_end());
        assert_eq!((read.hash, read.verify(Hash::ZERO)), (given.hash, Ok(())));
        assert_eq!(line(Dialect::Event, &read), format!("{CAPTURED}\n"));
    }

    #[test]
    fn a_line_that_is_spelled_in_another_way_is_the_same_event() {
        let spaced = CAPTURED.replacen(r#""payload":{"#, r#""payload": {"#, 1);
        let escaped = CAPTURED.replacen("io.x.y", r"io.\u0078.y", 1);
        let payload_first = {
            let payload = CAPTURED.trim_end_matches('}').split_once(r#""payload":"#);
            format!(r#"{{"payload":{}}},"type":"event"}}"#, payload.unwrap().1)
        };
        for other in [spaced, escaped, payload_first] {
            assert_eq!(
                line(Dialect::Event, &event(&other)),
                format!("{CAPTURED}\n")
            );
        }
    }

    #[test]
    fn what_neighbours_share_is_told_apart_where_they_do_not() {
        let mut parser = LineParser::default();
        let others = [
            ("https://x", "https://y"),
            ("io.x.y", "io.x.z"),
            ("50.439461594Z", "51.439461594Z"),
        ];
        for (one, another) in others {
            let changed = CAPTURED.replacen(one, another, 1);
            for text in [CAPTURED, &changed, CAPTURED] {
                let Line::Event(read) = parser.parse(text.as_bytes()).unwrap() else {
                    panic!("{text}")
                };
                assert_eq!(line(Dialect::Event, &read), format!("{text}\n"));
            }
        }
    }

    #[test]
    fn the_published_vectors_of_the_audit_specification_are_met() {
        let published = include_str!("audit_vectors.ndjson").lines();
        let mut count = 0;
        for line in published {
            let vector: serde_json::Value = serde_json::from_str(line).unwrap();
            let (event, hash) = (&vector["payload"]["event"], &vector["payload"]["hash"]);
            let text = |name: &str| event[name].as_str().unwrap();
            let metadata = super::super::HashedMetadata {
                specversion: text("specversion"),
                id: text("id").parse().unwrap(),
                predecessor: text("predecessorhash").parse().unwrap(),
                time: text("time"),
                source: text("source"),
                subject: text("subject"),
                event_type: text("type"),
                data_content_type: text("datacontenttype"),
            };
            let computed = Hash::of_event(&metadata, event["data"].to_string().as_bytes());
            assert_eq!(computed.to_string(), hash.as_str().unwrap());
            count += 1;
        }
        assert_eq!(count, 5);
    }

    #[test]
    fn what_is_no_event_says_what_it_is() {
        assert!(matches!(
            Line::parse(br#"{"type":"heartbeat","payload":{}}"#),
            Ok(Line::Heartbeat)
        ));
        assert!(matches!(
            Line::parse(br#"{"type":"heartbeat"}"#),
            Ok(Line::Heartbeat)
        ));
        let error = Line::parse(br#"{"type":"error","payload":{"error":"disk"}}"#);
        assert!(matches!(error, Ok(Line::Error(text)) if text == "disk"));
        assert!(matches!(
            Line::parse(br#"{"type":"row","payload":1}"#),
            Err(InvalidLine::Type(_))
        ));
        assert!(matches!(
            Line::parse(b"not json"),
            Err(InvalidLine::Json(_))
        ));
        let version = CAPTURED.replace(r#""specversion":"1.0""#, r#""specversion":"2.0""#);
        assert!(matches!(
            Line::parse(version.as_bytes()),
            Err(InvalidLine::Version { .. })
        ));
        let without_hash = CAPTURED.replace(r#","hash""#, r#","other""#);
        assert!(matches!(
            Line::parse(without_hash.as_bytes()),
            Err(InvalidLine::Json(_))
        ));
    }
}
