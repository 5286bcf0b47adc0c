//! The events that a command of an operator is about.

use std::{fmt, str::FromStr};

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

/// The reason why what an operator enters selects no events.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEventSelection {
    #[error("events are selected by event, from and to, type, fingerprint or key, and not by {0}")]
    UnknownName(String),
    #[error("{0}: {1}")]
    Value(&'static str, String),
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
    /// Reads the names and the values that an operator enters, in the query of an address or in a form.
    ///
    /// # Errors
    /// A name is unknown, a value is not valid, or they select events in several ways.
    #[doc(hidden)]
    pub fn from_pairs<'a>(
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Option<Self>, InvalidEventSelection> {
        let mut ways = Vec::new();
        let (mut from, mut to) = (None, None);
        for (name, value) in pairs {
            match name {
                "event" => ways.push(Self::Event {
                    event: parse("event", value)?,
                }),
                "from" if from.is_none() => from = Some(parse("from", value)?),
                "to" if to.is_none() => to = Some(parse("to", value)?),
                "from" | "to" => return Err(InvalidEventSelection::SeveralWays),
                "type" => ways.push(Self::Type {
                    event_type: parse("type", value)?,
                }),
                "fingerprint" if is_fingerprint(value) => ways.push(Self::Fingerprint {
                    fingerprint: value.to_owned(),
                }),
                "fingerprint" => return Err(InvalidEventSelection::Fingerprint),
                "key" if value.is_empty() => return Err(InvalidEventSelection::Key),
                "key" => ways.push(Self::Key {
                    key: value.to_owned(),
                }),
                _ => return Err(InvalidEventSelection::UnknownName(name.to_owned())),
            }
        }
        match (from, to) {
            (None, None) => {}
            (Some(from), Some(to)) if from > to => return Err(InvalidEventSelection::EmptyRange),
            (Some(from), Some(to)) => ways.push(Self::Range { from, to }),
            _ if ways.is_empty() => return Err(InvalidEventSelection::HalfRange),
            _ => return Err(InvalidEventSelection::SeveralWays),
        }
        let selection = ways.pop();
        if ways.is_empty() {
            Ok(selection)
        } else {
            Err(InvalidEventSelection::SeveralWays)
        }
    }

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

fn parse<T: FromStr<Err: fmt::Display>>(
    name: &'static str,
    value: &str,
) -> Result<T, InvalidEventSelection> {
    let invalid = |error: T::Err| InvalidEventSelection::Value(name, error.to_string());
    value.parse().map_err(invalid)
}

fn is_fingerprint(text: &str) -> bool {
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.len() == 16 && text.bytes().all(is_digit)
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

    #[test]
    fn pairs_are_a_selection_or_say_what_is_missing() {
        use InvalidEventSelection::{
            EmptyRange, Fingerprint, HalfRange, Key, SeveralWays, UnknownName, Value,
        };
        assert_eq!(EventSelection::from_pairs([]), Ok(None));
        for (pairs, selection) in [
            (&[("event", "7")][..], r#"{"event":"7"}"#),
            (&[("to", "9"), ("from", "3")], r#"{"from":"3","to":"9"}"#),
            (
                &[("type", "com.example.library.BookPurchasedEvent")],
                r#"{"type":"com.example.library.BookPurchasedEvent"}"#,
            ),
            (
                &[("fingerprint", "0123456789abcdef")],
                r#"{"fingerprint":"0123456789abcdef"}"#,
            ),
            (&[("key", "/books/42")], r#"{"key":"/books/42"}"#),
        ] {
            let read: EventSelection = serde_json::from_str(selection).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), selection);
            assert_eq!(
                EventSelection::from_pairs(pairs.iter().copied()),
                Ok(Some(read))
            );
        }
        for (wrong, error) in [
            (&[("from", "3")][..], HalfRange),
            (&[("to", "3")], HalfRange),
            (&[("from", "3"), ("to", "2")], EmptyRange),
            (&[("from", "3"), ("from", "4"), ("to", "5")], SeveralWays),
            (&[("event", "3"), ("to", "2")], SeveralWays),
            (&[("event", "3"), ("event", "4")], SeveralWays),
            (&[("event", "3"), ("type", "com.example.C")], SeveralWays),
            (&[("fingerprint", "XYZ")], Fingerprint),
            (&[("key", "")], Key),
            (&[("subject", "/books")], UnknownName("subject".to_owned())),
        ] {
            let read = EventSelection::from_pairs(wrong.iter().copied());
            assert_eq!(read, Err(error), "{wrong:?}");
        }
        let no_id = EventSelection::from_pairs([("event", "-1")]);
        assert!(matches!(no_id, Err(Value("event", _))), "{no_id:?}");
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
