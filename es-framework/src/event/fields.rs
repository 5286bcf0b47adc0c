//! An event as it is read from a line: its members first, as they stand there, then what they mean.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, de::Error as _};
use serde_json::value::RawValue;

use super::{
    DATA_CONTENT_TYPE, InvalidLine, RecordedEvent, SPEC_VERSION, TraceContext, known::Known,
};

/// The members of an event, borrowed from its line.
#[derive(Deserialize)]
pub(super) struct EventFields<'a> {
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

impl<'a> EventFields<'a> {
    /// The same with the hash that stands beside it.
    pub(super) fn with(self, hash: Cow<'a, str>) -> Self {
        let hash = Some(hash);
        Self { hash, ..self }
    }

    /// The event that has these members.
    pub(super) fn recorded(self, known: &mut Known) -> Result<RecordedEvent, InvalidLine> {
        if self.specversion != SPEC_VERSION || self.datacontenttype != DATA_CONTENT_TYPE {
            return Err(InvalidLine::Version {
                specversion: self.specversion.into_owned(),
                data_content_type: self.datacontenttype.into_owned(),
            });
        }
        let hash = self
            .hash
            .ok_or_else(|| serde_json::Error::missing_field("hash"))?;
        Ok(RecordedEvent {
            source: known.source(&self.source),
            subject: parsed(&self.subject)?,
            event_type: known.event_type(&self.r#type).map_err(malformed)?,
            trace: TraceContext::new(self.traceparent.as_deref(), self.tracestate.as_deref())?,
            id: parsed(&self.id)?,
            time: known.time(&self.time).map_err(malformed)?,
            predecessor_hash: parsed(&self.predecessorhash)?,
            data: self.data,
            hash: parsed(&hash)?,
        })
    }
}

/// The payload of the older shape: the hash stands beside the event.
#[derive(Deserialize)]
pub(super) struct ItemPayload<'a> {
    #[serde(borrow)]
    pub(super) event: EventFields<'a>,
    #[serde(borrow)]
    pub(super) hash: Cow<'a, str>,
}

/// A line that is read at once because of how it begins, instead of its type first and then its
/// payload.
#[derive(Deserialize)]
pub(super) struct WholeLine<'a, P> {
    /// Here so that a second one is refused.
    #[serde(rename = "type", borrow)]
    _type: Cow<'a, str>,
    payload: P,
}

impl<'a> WholeLine<'a, EventFields<'a>> {
    /// The event of a line of either shape. `None` where the line begins in another way, or has to be
    /// looked at again to say what is wrong with it.
    pub(super) fn read(line: &'a [u8]) -> Option<EventFields<'a>> {
        // Once for all of its texts.
        let line = std::str::from_utf8(line).ok()?;
        if line.starts_with(r#"{"type":"event","payload":{"#) {
            let line: Self = serde_json::from_str(line).ok()?;
            return Some(line.payload);
        }
        if line.starts_with(r#"{"type":"item","payload":{"#) {
            let line: WholeLine<'a, ItemPayload<'a>> = serde_json::from_str(line).ok()?;
            let ItemPayload { event, hash } = line.payload;
            return Some(event.with(hash));
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
