//! The number of an event in the store.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::text_visitor::deserialize_text;

/// The number that the event store assigns to an event: global, without gaps, starting at 0. JSON
/// represents it as a decimal string.
///
/// ```
/// use es_event::EventId;
///
/// let id: EventId = "7".parse()?;
/// assert_eq!(id.next().map(EventId::get), Some(8));
/// assert!("-1".parse::<EventId>().is_err());
/// # Ok::<_, es_event::InvalidEventId>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(u64);

/// The error for a string that is not an event id.
///
/// ```
/// use es_event::EventId;
///
/// let error = "-1".parse::<EventId>().unwrap_err();
/// assert!(error.to_string().starts_with(r#"invalid event id "-1""#));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid event id {text:?}: an event id is a whole number from 0 to {}",
    EventId::MAX
)]
pub struct InvalidEventId {
    text: Box<str>,
}

impl EventId {
    /// The id of the first event of a store.
    pub const FIRST: Self = Self(0);
    /// The largest id, because SQL databases store no larger integer.
    pub const MAX: u64 = i64::MAX.cast_unsigned();

    /// Converts a number to an id. Returns `None` for numbers above [`EventId::MAX`].
    #[must_use]
    pub const fn new(number: u64) -> Option<Self> {
        if number <= Self::MAX {
            Some(Self(number))
        } else {
            None
        }
    }

    /// Returns the id as a number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the next id, or `None` after the largest one.
    #[must_use]
    pub const fn next(self) -> Option<Self> {
        match self.0.checked_add(1) {
            Some(number) => Self::new(number),
            None => None,
        }
    }

    /// Returns the number of events up to and including `last`. Ids start at 0 and have no gaps.
    pub const fn count_to(last: Option<Self>) -> u64 {
        match last {
            Some(Self(last)) => last.saturating_add(1),
            None => 0,
        }
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for EventId {
    type Err = InvalidEventId;

    fn from_str(text: &str) -> Result<Self, InvalidEventId> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits
            .then(|| text.parse().ok())
            .flatten()
            .and_then(Self::new)
            .ok_or_else(|| InvalidEventId {
                text: text.chars().take(40).collect::<String>().into(),
            })
    }
}

impl Serialize for EventId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_text(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numbers_are_ids() {
        assert_eq!("0".parse(), Ok(EventId::FIRST));
        assert_eq!("41".parse::<EventId>().unwrap().next(), EventId::new(42));
        for invalid in ["", "-1", "+1", "hello", "1.5", " 1", "9223372036854775808"] {
            assert!(invalid.parse::<EventId>().is_err(), "{invalid}");
        }
        assert_eq!(EventId::new(EventId::MAX).unwrap().next(), None);
    }
}
