//! An event as it is read from a line: its members first, as they stand there, then what they mean.

use std::{borrow::Cow, str::FromStr, sync::Arc};

use serde::{Deserialize, de::Error as _};
use serde_json::value::RawValue;

use super::{
    DATA_CONTENT_TYPE, EventTime, EventType, InvalidLine, RecordedEvent, SPEC_VERSION, TraceContext,
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

/// What the last event was made of. Neighbours often share their source, their type and, as a commit
/// has one time, their time: those are not parsed again.
#[derive(Debug, Default)]
pub(super) struct Known {
    source: Option<Arc<str>>,
    event_type: Option<EventType>,
    time: Option<EventTime>,
}

impl Known {
    /// The event that has these members.
    pub(super) fn recorded(
        &mut self,
        fields: EventFields<'_>,
    ) -> Result<RecordedEvent, InvalidLine> {
        if fields.specversion != SPEC_VERSION || fields.datacontenttype != DATA_CONTENT_TYPE {
            return Err(InvalidLine::Version {
                specversion: fields.specversion.into_owned(),
                data_content_type: fields.datacontenttype.into_owned(),
            });
        }
        let hash = fields
            .hash
            .ok_or_else(|| serde_json::Error::missing_field("hash"))?;
        Ok(RecordedEvent {
            source: self.source(&fields.source),
            subject: parsed(&fields.subject)?,
            event_type: self.event_type(&fields.r#type)?,
            trace: TraceContext::new(fields.traceparent.as_deref(), fields.tracestate.as_deref())?,
            id: parsed(&fields.id)?,
            time: self.time(&fields.time)?,
            predecessor_hash: parsed(&fields.predecessorhash)?,
            data: fields.data,
            hash: parsed(&hash)?,
        })
    }

    fn source(&mut self, text: &str) -> Arc<str> {
        match &self.source {
            Some(source) if **source == *text => Arc::clone(source),
            _ => Arc::clone(self.source.insert(text.into())),
        }
    }

    fn event_type(&mut self, text: &str) -> Result<EventType, serde_json::Error> {
        match &self.event_type {
            Some(known) if known.as_str() == text => Ok(known.clone()),
            _ => Ok(self.event_type.insert(parsed(text)?).clone()),
        }
    }

    fn time(&mut self, text: &str) -> Result<EventTime, serde_json::Error> {
        match &self.time {
            Some(known) if known.as_str() == text => Ok(known.clone()),
            _ => {
                let text = serde::de::value::StrDeserializer::<serde_json::Error>::new(text);
                Ok(self.time.insert(EventTime::deserialize(text)?).clone())
            }
        }
    }
}

fn parsed<T: FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, serde_json::Error> {
    text.parse().map_err(serde_json::Error::custom)
}
