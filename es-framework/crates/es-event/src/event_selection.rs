//! The events that a command of an operator is about.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{EventId, EventType, PoisonEvent};

/// The events that an operator skips or retries.
///
/// ```
/// use es_event::{EventId, EventSelection, PoisonEvent};
///
/// let selection: EventSelection = serde_json::from_str(r#"{"from":"0","to":"9"}"#)?;
/// let poison = PoisonEvent::unreadable(EventId::FIRST, "its hash differs");
/// assert!(selection.covers(&poison));
/// assert_eq!(selection.to_string(), "events 0 to 9");
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum EventSelection {
    /// One event.
    Event {
        /// The event.
        event: EventId,
    },
    /// The events with ids from one to another, both included.
    Range {
        /// The first event.
        from: EventId,
        /// The last event.
        to: EventId,
    },
    /// The events of a type.
    Type {
        /// The type.
        #[serde(rename = "type")]
        event_type: EventType,
    },
    /// The events that fail alike: the fingerprint of their failure, see [`PoisonEvent::fingerprint`].
    Fingerprint {
        /// The fingerprint.
        fingerprint: String,
    },
    /// The event at which a key is held: the key of a row, or a subject.
    Key {
        /// The key, as the status shows it.
        key: String,
    },
}

/// The parts of a selection as an operator enters them: in a command line, a query or a form.
#[doc(hidden)]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EventSelectionParts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<EventId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<EventId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<EventId>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub event_type: Option<EventType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// The reason why parts are no selection.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEventSelection {
    #[error(
        "name the events in one way: one event, or from and to, or a type, or a fingerprint, or a key"
    )]
    SeveralWays,
    #[error("a range needs its first event and its last event: from and to")]
    HalfRange,
    #[error("the range is empty: from is greater than to")]
    EmptyRange,
    #[error("a fingerprint has 16 digits and letters from a to f; the status shows it")]
    Fingerprint,
    #[error("a key is not empty; the status shows it")]
    Key,
}

impl EventSelection {
    /// Returns true if the event is selected.
    #[must_use]
    pub fn covers(&self, poison: &PoisonEvent) -> bool {
        match self {
            Self::Event { event } => *event == poison.id,
            Self::Range { from, to } => (*from..=*to).contains(&poison.id),
            Self::Type { event_type } => poison.event_type.as_ref() == Some(event_type),
            Self::Fingerprint { fingerprint } => poison.fingerprint() == *fingerprint,
            // An event does not know its keys.
            Self::Key { .. } => false,
        }
    }

    /// Returns the first and the last event that are named by their ids.
    #[must_use]
    pub const fn ids(&self) -> Option<(EventId, EventId)> {
        match self {
            Self::Event { event } => Some((*event, *event)),
            Self::Range { from, to } => Some((*from, *to)),
            Self::Type { .. } | Self::Fingerprint { .. } | Self::Key { .. } => None,
        }
    }

    /// Returns true if each event that the other selection names by its id is selected.
    #[must_use]
    pub fn covers_all_of(&self, other: &Self) -> bool {
        match (self.ids(), other.ids()) {
            (Some((from, to)), Some((first, last))) => from <= first && last <= to,
            _ => self == other,
        }
    }
}

impl TryFrom<EventSelectionParts> for Option<EventSelection> {
    type Error = InvalidEventSelection;

    fn try_from(parts: EventSelectionParts) -> Result<Self, InvalidEventSelection> {
        let is_fingerprint = |text: &String| {
            text.len() == 16
                && text
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let EventSelectionParts {
            event,
            from,
            to,
            event_type,
            fingerprint,
            key,
        } = parts;
        let range = match (from, to) {
            (None, None) => None,
            (Some(from), Some(to)) if from > to => return Err(InvalidEventSelection::EmptyRange),
            (Some(from), Some(to)) => Some(EventSelection::Range { from, to }),
            _ if event.is_none()
                && event_type.is_none()
                && fingerprint.is_none()
                && key.is_none() =>
            {
                return Err(InvalidEventSelection::HalfRange);
            }
            _ => return Err(InvalidEventSelection::SeveralWays),
        };
        if fingerprint
            .as_ref()
            .is_some_and(|text| !is_fingerprint(text))
        {
            return Err(InvalidEventSelection::Fingerprint);
        }
        if key.as_ref().is_some_and(String::is_empty) {
            return Err(InvalidEventSelection::Key);
        }
        let ways = [
            event.map(|event| EventSelection::Event { event }),
            range,
            event_type.map(|event_type| EventSelection::Type { event_type }),
            fingerprint.map(|fingerprint| EventSelection::Fingerprint { fingerprint }),
            key.map(|key| EventSelection::Key { key }),
        ];
        let mut ways = ways.into_iter().flatten();
        let selection = ways.next();
        match ways.next() {
            None => Ok(selection),
            Some(_) => Err(InvalidEventSelection::SeveralWays),
        }
    }
}

impl fmt::Display for EventSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event { event } => write!(f, "event {event}"),
            Self::Range { from, to } => write!(f, "events {from} to {to}"),
            Self::Type { event_type } => write!(f, "events of type {event_type}"),
            Self::Fingerprint { fingerprint } => {
                write!(f, "events that fail with fingerprint {fingerprint}")
            }
            Self::Key { key } => write!(f, "the event at which {key} is held"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(json: &str) -> Result<Option<EventSelection>, InvalidEventSelection> {
        serde_json::from_str::<EventSelectionParts>(json)
            .unwrap()
            .try_into()
    }

    #[test]
    fn parts_are_a_selection_or_say_what_is_missing() {
        assert_eq!(parts("{}"), Ok(None));
        for selection in [
            r#"{"event":"7"}"#,
            r#"{"from":"3","to":"9"}"#,
            r#"{"type":"com.example.library.BookPurchasedEvent"}"#,
            r#"{"fingerprint":"0123456789abcdef"}"#,
            r#"{"key":"/books/42"}"#,
        ] {
            let read: EventSelection = serde_json::from_str(selection).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), selection);
            assert_eq!(parts(selection), Ok(Some(read)));
        }
        for (wrong, error) in [
            (r#"{"from":"3"}"#, InvalidEventSelection::HalfRange),
            (r#"{"to":"3"}"#, InvalidEventSelection::HalfRange),
            (
                r#"{"from":"3","to":"2"}"#,
                InvalidEventSelection::EmptyRange,
            ),
            (
                r#"{"event":"3","to":"2"}"#,
                InvalidEventSelection::SeveralWays,
            ),
            (
                r#"{"event":"3","type":"com.example.C"}"#,
                InvalidEventSelection::SeveralWays,
            ),
            (
                r#"{"fingerprint":"XYZ"}"#,
                InvalidEventSelection::Fingerprint,
            ),
            (r#"{"key":""}"#, InvalidEventSelection::Key),
        ] {
            assert_eq!(parts(wrong), Err(error), "{wrong}");
        }
    }

    #[test]
    fn a_range_includes_the_events_in_it_and_no_others() {
        let range = |from, to| EventSelection::Range {
            from: EventId::new(from).unwrap(),
            to: EventId::new(to).unwrap(),
        };
        let event = |id| EventSelection::Event {
            event: EventId::new(id).unwrap(),
        };
        assert!(range(3, 9).covers_all_of(&event(9)) && range(3, 9).covers_all_of(&range(4, 5)));
        assert!(!range(3, 9).covers_all_of(&event(10)) && !range(3, 9).covers_all_of(&range(2, 5)));
        assert!(event(3).covers_all_of(&range(3, 3)));
    }
}
