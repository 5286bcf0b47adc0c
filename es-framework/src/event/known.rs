//! What the events of a stream or of a table share with their neighbours.

use std::sync::Arc;

use serde::{Deserialize as _, de::value};

use super::{EventTime, EventType, InvalidEventType};

/// What the last event was made of. Neighbours often share their source, their type and, as a commit
/// has one time, their time: those are not parsed again.
#[derive(Debug, Default)]
pub(crate) struct Known {
    source: Option<Arc<str>>,
    event_type: Option<EventType>,
    time: Option<EventTime>,
}

impl Known {
    pub(crate) fn source(&mut self, text: &str) -> Arc<str> {
        match &self.source {
            Some(source) if **source == *text => Arc::clone(source),
            _ => Arc::clone(self.source.insert(text.into())),
        }
    }

    pub(crate) fn event_type(&mut self, text: &str) -> Result<EventType, InvalidEventType> {
        match &self.event_type {
            Some(known) if known.as_str() == text => Ok(known.clone()),
            _ => Ok(self.event_type.insert(text.parse()?).clone()),
        }
    }

    pub(crate) fn time(&mut self, text: &str) -> Result<EventTime, value::Error> {
        match &self.time {
            Some(known) if known.as_str() == text => Ok(known.clone()),
            _ => {
                let time = EventTime::deserialize(value::StrDeserializer::new(text))?;
                Ok(self.time.insert(time).clone())
            }
        }
    }
}
