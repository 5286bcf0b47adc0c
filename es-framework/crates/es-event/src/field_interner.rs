//! Shares equal members of neighbouring events.

use std::sync::Arc;

use serde::{Deserialize as _, de::value};

use super::{EventTime, EventType, InvalidEventType};

/// Interns the source, type and time of events: an event that has the value of the previous event shares it.
/// All events of one commit have the same time.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct FieldInterner {
    source: Option<Arc<str>>,
    event_type: Option<EventType>,
    time: Option<EventTime>,
}

impl FieldInterner {
    /// Returns the source of an event. Equal neighbouring sources share one allocation.
    pub fn source(&mut self, text: &str) -> Arc<str> {
        match &self.source {
            Some(source) if **source == *text => Arc::clone(source),
            _ => Arc::clone(self.source.insert(text.into())),
        }
    }

    /// Parses the type of an event. If the text is that of the previous event, it is not parsed again.
    ///
    /// # Errors
    /// The text is not an event type.
    pub fn event_type(&mut self, text: &str) -> Result<EventType, InvalidEventType> {
        match &self.event_type {
            Some(last) if last.as_str() == text => Ok(last.clone()),
            _ => Ok(self.event_type.insert(text.parse()?).clone()),
        }
    }

    /// Parses the time of an event. If the text is that of the previous event, it is not parsed again.
    ///
    /// # Errors
    /// The text is not a time of RFC 3339.
    pub fn time(&mut self, text: &str) -> Result<EventTime, value::Error> {
        match &self.time {
            Some(last) if last.as_str() == text => Ok(last.clone()),
            _ => {
                let time = EventTime::deserialize(value::StrDeserializer::new(text))?;
                Ok(self.time.insert(time).clone())
            }
        }
    }
}
