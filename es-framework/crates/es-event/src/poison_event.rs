//! The event that stops a read model or a reaction.

use std::fmt;

use sha2::{Digest as _, Sha256};

use super::{EventId, EventType, RecordedEvent, Subject, hex};

/// An event that a read model or a reaction cannot handle.
///
/// ```
/// use es_event::{EventId, PoisonEvent};
///
/// let unreadable = PoisonEvent::unreadable(EventId::FIRST, "its hash differs");
/// assert_eq!(unreadable.to_string(), "it cannot take event 0: its hash differs");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it cannot take event {id}{}: {reason}", OnSubject(self.subject.as_ref()))]
pub struct PoisonEvent {
    /// The event's id.
    pub id: EventId,
    /// The event's subject, unless the event cannot be read.
    pub subject: Option<Subject>,
    /// The event's type, unless the event cannot be read.
    pub event_type: Option<EventType>,
    /// The reason of the failure.
    pub reason: String,
}

struct OnSubject<'a>(Option<&'a Subject>);

impl fmt::Display for OnSubject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(subject) => write!(f, " on {subject}"),
            None => Ok(()),
        }
    }
}

impl PoisonEvent {
    /// Creates the report of an event and the reason why it cannot be handled, without personal values that were sealed.
    pub fn new(event: &RecordedEvent, reason: impl ToString) -> Self {
        Self::shortened(event, reason, MAX_REASON)
    }

    /// Creates the same report with a reason of about `max` bytes.
    #[doc(hidden)]
    pub fn shortened(event: &RecordedEvent, reason: impl ToString, max: usize) -> Self {
        Self {
            id: event.id,
            subject: Some(event.subject.clone()),
            event_type: Some(event.event_type.clone()),
            reason: shorten(event.hide_values(reason.to_string()), max),
        }
    }

    /// Creates the report of an event that the event store holds or sends damaged.
    pub fn unreadable(id: EventId, reason: impl ToString) -> Self {
        Self {
            id,
            subject: None,
            event_type: None,
            reason: shorten_reason(reason.to_string()),
        }
    }

    /// Returns the fingerprint of the failure. Events of one type that fail for the same reason have
    /// the same fingerprint, whatever values they contain.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(self.event_type.as_ref().map_or("", EventType::as_str));
        hash.update([0]);
        hash.update(without_values(&self.reason));
        hex(hash.finalize().iter().take(8))
    }
}

/// The longest reason in bytes. An error quotes the value that it refuses, and an event can have megabytes.
const MAX_REASON: usize = 2_000;

/// Leaves out the middle of a long reason. The end says what was expected, and where.
#[must_use]
pub fn shorten_reason(reason: String) -> String {
    shorten(reason, MAX_REASON)
}

fn shorten(reason: String, max: usize) -> String {
    if reason.len() <= max {
        return reason;
    }
    let (head, rest) = reason.split_at(reason.floor_char_boundary(max / 2));
    let tail = rest.ceil_char_boundary(rest.len().saturating_sub(max / 2));
    let (left_out, tail) = rest.split_at(tail);
    format!("{head}… {} bytes are left out …{tail}", left_out.len())
}

/// Removes numbers and quoted texts from an error, because they are values of one event.
fn without_values(reason: &str) -> String {
    let mut text = String::with_capacity(reason.len());
    let mut is_quoted = false;
    let mut is_number = false;
    for character in reason.chars() {
        if character == '"' {
            is_quoted = !is_quoted;
            text.push(character);
            continue;
        }
        if is_quoted {
            continue;
        }
        // The point of a number is a part of it.
        let is_digit = character.is_ascii_digit() || is_number && character == '.';
        if !is_digit {
            text.push(character);
        } else if !is_number {
            text.push('0');
        }
        is_number = is_digit;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(event_type: &str, reason: &str) -> PoisonEvent {
        PoisonEvent {
            event_type: Some(event_type.parse().unwrap()),
            ..PoisonEvent::unreadable(EventId::FIRST, reason)
        }
    }

    #[test]
    fn a_reason_that_quotes_a_large_value_is_short() {
        let quoting = |length: usize| {
            let value = "ü".repeat(length);
            let reason =
                format!("invalid type: string \"{value}\", expected i64 at line 1 column 7");
            failure("com.example.Planted", &reason)
        };
        let (large, small) = (quoting(4_000_000), quoting(3));
        assert!(large.reason.len() < 2_100, "{}", large.reason.len());
        for text in [
            "invalid type: string \"ü",
            "expected i64 at line 1 column 7",
        ] {
            assert!(large.reason.contains(text), "{}", large.reason);
        }
        assert_eq!(large.fingerprint(), small.fingerprint());
    }

    #[test]
    fn events_that_fail_alike_have_one_fingerprint() {
        let many = failure(
            "com.example.Planted",
            r#"invalid type: string "many", expected i64 at line 1 column 30"#,
        );
        let few = failure(
            "com.example.Planted",
            r#"invalid type: string "a few", expected i64 at line 1 column 7"#,
        );
        assert_eq!(many.fingerprint(), few.fingerprint());
        assert_eq!(many.fingerprint().len(), 16);
        for other in [
            failure("com.example.Felled", &many.reason),
            failure(
                "com.example.Planted",
                "missing field `kind` at line 1 column 30",
            ),
            failure(
                "com.example.Planted",
                r#"invalid type: string "many", expected u8"#,
            ),
        ] {
            assert_ne!(many.fingerprint(), other.fingerprint(), "{other}");
        }
    }

    #[test]
    fn the_values_of_one_event_do_not_belong_to_the_reason() {
        assert_eq!(without_values("event 12.5 of 300"), "event 0 of 0");
        assert_eq!(without_values("no \"x 1\" here"), "no \"\" here");
    }
}
