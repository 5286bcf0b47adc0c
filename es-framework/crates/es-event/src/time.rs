//! The time at which the store recorded an event, with the exact text that the hash covers.

use std::{fmt, sync::Arc};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// An RFC 3339 time in UTC. The type stores the hashed text. All events of one commit share the
/// time.
///
/// Some clients parse the time and format it again without trailing zeros before they verify the
/// hash; one client needs at least six fractional digits. Therefore every time created here has
/// nine fractional digits, and the last one is not zero.
///
/// ```
/// use es_event::EventTime;
/// use jiff::Timestamp;
///
/// let noon = "2026-07-01T12:00:00Z".parse::<Timestamp>()?;
/// assert_eq!(EventTime::from_timestamp(noon).as_str(), "2026-07-01T12:00:00.000000001Z");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct EventTime(Arc<str>);

impl EventTime {
    /// Returns the current time.
    #[must_use]
    pub fn now() -> Self {
        Self::from_timestamp(Timestamp::now())
    }

    /// Formats `time` with nine fractional digits. A final zero becomes a one.
    #[must_use]
    pub fn from_timestamp(time: Timestamp) -> Self {
        let text = format!("{time:.9}");
        let text = match text.strip_suffix("0Z") {
            Some(head) => format!("{head}1Z"),
            None => text,
        };
        Self(text.into())
    }

    /// Returns the text that is hashed and sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses the text into a timestamp.
    ///
    /// # Errors
    /// Fails if the text comes from another store and is not an RFC 3339 time.
    pub fn timestamp(&self) -> Result<Timestamp, jiff::Error> {
        self.0.parse()
    }
}

impl fmt::Display for EventTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for EventTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for EventTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for EventTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        if text.len() > 64 || text.parse::<Timestamp>().is_err() {
            return Err(D::Error::custom("an event's time is an RFC 3339 text"));
        }
        Ok(Self(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_nine_digits_and_never_ends_in_zero() {
        for nanosecond in [0, 100_000_000, 123_456_780, 123_456_789] {
            let time =
                EventTime::from_timestamp(Timestamp::new(1_700_000_000, nanosecond).unwrap());
            let fraction = time.as_str().split('.').nth(1).unwrap();
            assert_eq!(fraction.len(), 10, "{time}");
            assert!(!fraction.ends_with("0Z"), "{time}");
        }
        let time = EventTime::from_timestamp(Timestamp::new(1_700_000_000, 123_456_789).unwrap());
        assert_eq!(time.as_str(), "2023-11-14T22:13:20.123456789Z");
    }
}
