//! Deserializes an event in two steps: first its JSON members, then their values.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, de::Error as _};
use serde_json::value::RawValue;

use super::{
    DATA_CONTENT_TYPE, InvalidStreamLine, RecordedEvent, SPEC_VERSION, Subject, TraceContext,
    field_interner::FieldInterner,
};

/// The JSON members of an event, borrowed from its line.
#[derive(Deserialize)]
pub(super) struct EventMembers<'a> {
    #[serde(borrow)]
    source: Cow<'a, str>,
    #[serde(borrow)]
    subject: Cow<'a, str>,
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow)]
    traceparent: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tracestate: Option<Cow<'a, str>>,
    #[serde(borrow)]
    specversion: Cow<'a, str>,
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    time: Cow<'a, str>,
    #[serde(borrow)]
    datacontenttype: Cow<'a, str>,
    #[serde(borrow)]
    predecessorhash: Cow<'a, str>,
    data: Box<RawValue>,
    #[serde(borrow)]
    hash: Option<Cow<'a, str>>,
}

impl<'a> EventMembers<'a> {
    /// Sets the hash, which a line of the dialect `Item` has outside the event.
    pub(super) fn with_hash(self, hash: Cow<'a, str>) -> Self {
        let hash = Some(hash);
        Self { hash, ..self }
    }

    /// Parses the members into a recorded event.
    pub(super) fn into_recorded(
        self,
        interner: &mut FieldInterner,
    ) -> Result<RecordedEvent, InvalidStreamLine> {
        if self.specversion != SPEC_VERSION || self.datacontenttype != DATA_CONTENT_TYPE {
            return Err(InvalidStreamLine::Version {
                specversion: self.specversion.into_owned(),
                data_content_type: self.datacontenttype.into_owned(),
            });
        }
        let hash = self
            .hash
            .ok_or_else(|| serde_json::Error::missing_field("hash"))?;
        Ok(RecordedEvent {
            source: interner.source(&self.source),
            subject: Subject::parse_recorded(&self.subject).map_err(malformed)?,
            event_type: interner.event_type(&self.r#type).map_err(malformed)?,
            trace: TraceContext::new(self.traceparent.as_deref(), self.tracestate.as_deref())?,
            id: parsed(&self.id)?,
            time: interner.time(&self.time).map_err(malformed)?,
            predecessor_hash: parsed(&self.predecessorhash)?,
            data: self.data,
            hash: parsed(&hash)?,
            unopened: None,
        })
    }
}

/// The payload of the dialect `Item`: the hash is a sibling of the event.
#[derive(Deserialize)]
pub(super) struct EventWithHash<'a> {
    #[serde(borrow)]
    pub(super) event: EventMembers<'a>,
    #[serde(borrow)]
    pub(super) hash: Cow<'a, str>,
}

/// A line of version 1 of the API, an event or an item with its hash. It is parsed in one pass because its first bytes
/// tell the dialect. Other lines need a first pass for the type and a second one for the payload.
#[derive(Deserialize)]
pub(super) struct PayloadLine<'a, P> {
    /// The field makes serde reject a second `type` member.
    #[serde(rename = "type", borrow)]
    _type: Cow<'a, str>,
    payload: P,
}

/// A line of version 2 of the API.
#[derive(Deserialize)]
struct V2EventLine<'a> {
    #[serde(rename = "type", borrow)]
    _type: Cow<'a, str>,
    #[serde(borrow)]
    data: EventMembers<'a>,
}

impl<'a> PayloadLine<'a, EventMembers<'a>> {
    /// Parses the event of a line in either dialect or of version 2. Returns `None` if the line begins differently
    /// or if only the slower parser can tell what is wrong.
    pub(super) fn read(line: &'a [u8]) -> Option<EventMembers<'a>> {
        // One check for the whole line costs less than one check for each string.
        let line = std::str::from_utf8(line).ok()?;
        if line.starts_with(r#"{"type":"event","payload":{"#) {
            let line: Self = serde_json::from_str(line).ok()?;
            return Some(line.payload);
        }
        if line.starts_with(r#"{"type":"event","data":{"#) {
            let line: V2EventLine<'a> = serde_json::from_str(line).ok()?;
            return Some(line.data);
        }
        if line.starts_with(r#"{"type":"item","payload":{"#) {
            let line: PayloadLine<'a, EventWithHash<'a>> = serde_json::from_str(line).ok()?;
            let EventWithHash { event, hash } = line.payload;
            return Some(event.with_hash(hash));
        }
        None
    }
}

fn parsed<T: FromStr<Err: fmt::Display>>(text: &str) -> Result<T, serde_json::Error> {
    text.parse().map_err(malformed)
}

fn malformed(error: impl fmt::Display) -> serde_json::Error {
    serde_json::Error::custom(error)
}
