//! The two dialects of the event store protocol.

use std::{fmt, str::FromStr};

/// One of the two JSON shapes in which servers of the protocol send events.
///
/// ```
/// use es_event::{Dialect, EventCandidate, EventId, EventTime, EventType, Hash, RecordedEvent};
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
    /// `{"type":"item","payload":{"event":{…},"hash":"…"}}`: event stores before version 1.0.
    #[default]
    Item,
    /// `{"type":"event","payload":{…,"hash":"…","signature":null}}`: event stores from version 1.0.
    Event,
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Item => "item",
            Self::Event => "event",
        })
    }
}

impl FromStr for Dialect {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "item" => Ok(Self::Item),
            "event" => Ok(Self::Event),
            _ => Err("the dialects are item and event"),
        }
    }
}
