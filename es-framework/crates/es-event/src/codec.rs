//! Reads and writes events as JSON, in both dialects of the event store protocol.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Dialect, InvalidStreamLine, RecordedEvent,
    borrowed_event::BorrowedEvent,
    event_fields::{EventMembers, EventWithHash, PayloadLine},
    field_interner::FieldInterner,
};

impl Dialect {
    /// Appends the event as one stream line, with the line break.
    pub fn write_line(self, event: &RecordedEvent, signature: Option<&str>, out: &mut Vec<u8>) {
        BorrowedEvent::from_recorded(event).write_line(self, signature, out);
    }

    /// Appends the event as an element of the response to a write. The dialect `Item` omits data
    /// and hash there.
    pub fn write_recorded(self, event: &RecordedEvent, signature: Option<&str>, out: &mut Vec<u8>) {
        match self {
            Self::Item => BorrowedEvent::from_recorded(event).write_without_data(out),
            Self::Event => BorrowedEvent::from_recorded(event).write_signed(signature, out),
        }
    }
}

impl RecordedEvent {
    /// Appends the event as a stream line of version 2 of the API, with the line break.
    pub fn write_envelope_line(&self, signature: Option<&str>, out: &mut Vec<u8>) {
        BorrowedEvent::from_recorded(self).write_envelope_line(signature, out);
    }

    /// Appends the event as a line of a backup, with the line break. The line has the type of the
    /// dialect `Event` and the payload of the dialect `Item`.
    pub fn write_backup_line(&self, out: &mut Vec<u8>) {
        BorrowedEvent::from_recorded(self).write_backup_line(out);
    }

    /// Parses the payload of a backup line.
    pub fn parse_backup(payload: &RawValue) -> Result<Self, InvalidStreamLine> {
        let EventWithHash { event, hash } = serde_json::from_str(payload.get())?;
        event
            .with_hash(hash)
            .into_recorded(&mut FieldInterner::default())
    }
}

/// One line of an NDJSON stream, of version 1 or version 2 of the API.
///
/// ```
/// use es_event::StreamLine;
///
/// let line = StreamLine::parse(br#"{"type":"heartbeat","payload":{}}"#)?;
/// assert!(matches!(line, StreamLine::Heartbeat));
/// # Ok::<_, es_event::InvalidStreamLine>(())
/// ```
#[derive(Debug)]
pub enum StreamLine {
    /// An event in either dialect of version 1, or of version 2.
    Event(Box<RecordedEvent>),
    /// A line that only shows that the connection is alive.
    Heartbeat,
    /// An error of version 1: the server met it after the stream had begun.
    Error(String),
    /// An error of version 2. It is the last line.
    Failure(StreamFailure),
    /// The last line of a complete stream of version 2.
    End,
}

/// An error of version 2 of the API.
///
/// ```
/// use es_event::StreamLine;
///
/// let line = br#"{"type":"error","data":{"code":"https://docs.eventsourcingdb.io/errors/disk-full","description":"the disk is full"}}"#;
/// let StreamLine::Failure(failure) = StreamLine::parse(line)? else { panic!("it is one") };
/// assert_eq!(failure.short_code(), "disk-full");
/// # Ok::<_, es_event::InvalidStreamLine>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StreamFailure {
    /// The URL that names the kind of error.
    pub code: String,
    /// The error in words.
    pub description: String,
    /// Values that describe the error.
    #[serde(default)]
    pub details: serde_json::Value,
}

impl StreamFailure {
    /// Returns the last part of the code, such as `precondition-violated`.
    #[must_use]
    pub fn short_code(&self) -> &str {
        self.code.rsplit('/').next().unwrap_or_default()
    }
}

/// The members of a line, before its `type` is known.
#[derive(Deserialize)]
struct RawStreamLine<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

/// The payload of an error line of version 1.
#[derive(Deserialize)]
struct ErrorLinePayload {
    error: String,
}

impl StreamLine {
    /// Parses a line of version 1, in either dialect, or of version 2. The `type` of an event is `item` or
    /// `event`, by dialect.
    ///
    /// # Errors
    /// Fails if the line is malformed or of an unknown type.
    pub fn parse(line: &[u8]) -> Result<Self, InvalidStreamLine> {
        StreamLineParser::default().parse(line)
    }
}

/// Parses the lines of one stream.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct StreamLineParser {
    interner: FieldInterner,
}

impl StreamLineParser {
    /// Parses a line of version 1, in either dialect, or of version 2.
    pub fn parse(&mut self, line: &[u8]) -> Result<StreamLine, InvalidStreamLine> {
        if let Some(read) = PayloadLine::read(line) {
            return Ok(StreamLine::Event(Box::new(
                read.into_recorded(&mut self.interner)?,
            )));
        }
        let RawStreamLine {
            r#type,
            payload,
            data,
        } = serde_json::from_slice(line)?;
        let is_envelope = data.is_some();
        let payload = data.or(payload).map_or("null", RawValue::get);
        match &*r#type {
            "event" => {
                let read: EventMembers<'_> = serde_json::from_str(payload)?;
                Ok(StreamLine::Event(Box::new(
                    read.into_recorded(&mut self.interner)?,
                )))
            }
            "item" => {
                let EventWithHash { event, hash } = serde_json::from_str(payload)?;
                let read = event.with_hash(hash);
                Ok(StreamLine::Event(Box::new(
                    read.into_recorded(&mut self.interner)?,
                )))
            }
            "heartbeat" => Ok(StreamLine::Heartbeat),
            "end" if is_envelope => Ok(StreamLine::End),
            "error" if is_envelope => Ok(StreamLine::Failure(serde_json::from_str(payload)?)),
            "error" => {
                let ErrorLinePayload { error } = serde_json::from_str(payload)?;
                Ok(StreamLine::Error(error))
            }
            other => Err(InvalidStreamLine::Type(other.chars().take(40).collect())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hash;

    /// A line that a server of version 1.0 sent, with a trace and every kind of JSON value.
    const CAPTURED: &str = r#"{"type":"event","payload":{"source":"https://x","subject":"/a","type":"io.x.y","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","specversion":"1.0","id":"0","time":"2026-10-07T13:32:50.439461594Z","datacontenttype":"application/json","predecessorhash":"0000000000000000000000000000000000000000000000000000000000000000","data":{"b":100,"k":{"a":2,"b":1},"n":1.5,"z":"\u003c\u0026\u003e é 😀"},"hash":"a6015b0e09ab312b6ff506e267ad46d6e806f3a13041f948cf5c5ebbf83105f0","signature":null}}"#;

    fn event(line: &str) -> RecordedEvent {
        match StreamLine::parse(line.as_bytes()).unwrap() {
            StreamLine::Event(event) => *event,
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
    fn a_line_of_version_2_carries_the_same_event() {
        for given in [event(CAPTURED), {
            let mut untraced = event(CAPTURED);
            untraced.trace = None;
            untraced
        }] {
            let mut out = Vec::new();
            given.write_envelope_line(Some("signed"), &mut out);
            let text = String::from_utf8(out.clone()).unwrap();
            assert!(
                text.starts_with(r#"{"type":"event","data":{"source":"#),
                "{text}"
            );
            assert!(
                text.contains(r#","tracestate":null,"specversion""#),
                "{text}"
            );
            assert!(text.ends_with("\",\"signature\":\"signed\"}}\n"), "{text}");
            let spaced = text.replacen(r#""data":{"#, r#""data": {"#, 1);
            for text in [text, spaced] {
                let read = event(text.trim_end());
                assert_eq!((read.hash, &read.trace), (given.hash, &given.trace));
                assert_eq!(line(Dialect::Event, &read), line(Dialect::Event, &given));
            }
        }
    }

    #[test]
    fn the_other_lines_of_version_2_are_told_apart() {
        let parse = |text: &str| StreamLine::parse(text.as_bytes());
        assert!(matches!(
            parse(r#"{"type":"end","data":{}}"#),
            Ok(StreamLine::End)
        ));
        let heartbeat = parse(r#"{"type":"heartbeat","data":{}}"#);
        assert!(matches!(heartbeat, Ok(StreamLine::Heartbeat)));
        let failure = r#"{"type":"error","data":{"code":"c","description":"d","details":{}}}"#;
        assert!(matches!(parse(failure), Ok(StreamLine::Failure(_))));
        assert!(parse(r#"{"type":"end","payload":{}}"#).is_err());
        assert!(parse(r#"{"type":"error","data":{"error":"disk"}}"#).is_err());
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
        let mut parser = StreamLineParser::default();
        let others = [
            ("https://x", "https://y"),
            ("io.x.y", "io.x.z"),
            ("50.439461594Z", "51.439461594Z"),
        ];
        for (one, another) in others {
            let changed = CAPTURED.replacen(one, another, 1);
            for text in [CAPTURED, &changed, CAPTURED] {
                let StreamLine::Event(read) = parser.parse(text.as_bytes()).unwrap() else {
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
                traceparent: None,
                tracestate: None,
            };
            let version = super::super::HashVersion::V1;
            let computed = Hash::of_event(version, &metadata, event["data"].to_string().as_bytes());
            assert_eq!(computed.to_string(), hash.as_str().unwrap());
            count += 1;
        }
        assert_eq!(count, 5);
    }

    #[test]
    fn what_is_no_event_says_what_it_is() {
        assert!(matches!(
            StreamLine::parse(br#"{"type":"heartbeat","payload":{}}"#),
            Ok(StreamLine::Heartbeat)
        ));
        assert!(matches!(
            StreamLine::parse(br#"{"type":"heartbeat"}"#),
            Ok(StreamLine::Heartbeat)
        ));
        let error = StreamLine::parse(br#"{"type":"error","payload":{"error":"disk"}}"#);
        assert!(matches!(error, Ok(StreamLine::Error(text)) if text == "disk"));
        assert!(matches!(
            StreamLine::parse(br#"{"type":"row","payload":1}"#),
            Err(InvalidStreamLine::Type(_))
        ));
        assert!(matches!(
            StreamLine::parse(b"not json"),
            Err(InvalidStreamLine::Json(_))
        ));
        let version = CAPTURED.replace(r#""specversion":"1.0""#, r#""specversion":"2.0""#);
        assert!(matches!(
            StreamLine::parse(version.as_bytes()),
            Err(InvalidStreamLine::Version { .. })
        ));
        let without_hash = CAPTURED.replace(r#","hash""#, r#","other""#);
        assert!(matches!(
            StreamLine::parse(without_hash.as_bytes()),
            Err(InvalidStreamLine::Json(_))
        ));
    }
}
