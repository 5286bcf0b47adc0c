//! The fully qualified name of an event type.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::text_visitor::deserialize_text;

/// A name such as `com.example.library.BookPurchasedEvent`.
///
/// The event store's rule is `^[0-9A-Za-z_-]{2,}\.([0-9A-Za-z_-]+\.)+[0-9A-Za-z_-]+$`: at least
/// three segments, the first one with at least two characters.
///
/// ```
/// use es_event::EventType;
///
/// let purchased: EventType = "com.example.library.BookPurchasedEvent".parse()?;
/// assert_eq!(purchased.as_str(), "com.example.library.BookPurchasedEvent");
/// assert!("BookPurchasedEvent".parse::<EventType>().is_err());
/// # Ok::<_, es_event::InvalidEventType>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventType(Cow<'static, str>);

/// The error for a string that is not an event type.
///
/// ```
/// use es_event::EventType;
///
/// let error = "BookPurchasedEvent".parse::<EventType>().unwrap_err();
/// assert!(error.to_string().starts_with("invalid event type: 'BookPurchasedEvent'"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid event type: '{text}': write at least three segments of ASCII letters, digits, '-' and '_' with dots between them, such as com.example.library.BookPurchasedEvent"
)]
pub struct InvalidEventType {
    text: Box<str>,
}

/// The maximum length of an event type in bytes.
const MAX_LENGTH: usize = 512;

impl EventType {
    /// Wraps the type that `#[derive(Event)]` has already checked.
    #[must_use]
    pub const fn declared(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// Returns the type as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_event_type(text: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    text.len() <= MAX_LENGTH
        && text.split('.').all(is_part)
        && text.split('.').count() >= 3
        && text.split('.').next().is_some_and(|first| first.len() >= 2)
}

impl std::str::FromStr for EventType {
    type Err = InvalidEventType;

    fn from_str(text: &str) -> Result<Self, InvalidEventType> {
        if is_event_type(text) {
            return Ok(Self(Cow::Owned(text.to_owned())));
        }
        let text = text.chars().take(80).collect::<String>().into();
        Err(InvalidEventType { text })
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for EventType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for EventType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_text(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_protocols_examples_are_told_apart() {
        for valid in [
            "io.eventsourcingdb.test",
            "com.example.library.BookPurchasedEvent",
            "a1.b.c",
        ] {
            assert!(valid.parse::<EventType>().is_ok(), "{valid}");
        }
        for invalid in [
            "",
            "a",
            "com.example",
            "c.example.x",
            "malformed.event.type.",
            ".a.b.c",
            "io.a b.c",
        ] {
            assert!(invalid.parse::<EventType>().is_err(), "{invalid}");
        }
    }
}
