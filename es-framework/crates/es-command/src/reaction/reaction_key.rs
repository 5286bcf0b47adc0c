//! The idempotency key of a call to another system.

use std::fmt;

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use es_event::RecordedEvent;

/// The key under which a call to another system is idempotent. Repetitions of the call have the same key,
/// which has 64 hexadecimal digits.
///
/// ```
/// use es_framework::prelude::*;
/// # #[derive(Event)]
/// # struct BookBorrowedEvent {}
///
/// struct Receipts;
///
/// #[reaction]
/// impl Receipts {
///     async fn print(_: &BookBorrowedEvent, key: &ReactionKey) -> Result<(), std::io::Error> {
///         println!("Idempotency-Key: {key}"); // the same each time the call is made
///         Ok(())
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReactionKey(Box<str>);

impl ReactionKey {
    /// Derives the key from the event's hash, because another store has other events with the same
    /// ids. The times of a schedule share an event, so each has its own key.
    pub(super) fn for_call(
        (reaction, step): (&str, &str),
        view: usize,
        event: &RecordedEvent,
        scheduled: Option<Timestamp>,
    ) -> Self {
        let mut hasher = Sha256::new();
        for part in [reaction, step] {
            hasher.update(part.as_bytes());
            hasher.update([0]);
        }
        hasher.update(view.to_be_bytes());
        hasher.update(event.hash.as_bytes());
        if let Some(time) = scheduled {
            hasher.update(time.to_string());
        }
        Self(es_event::hex(&hasher.finalize()).into())
    }

    /// Returns the key as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ReactionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
