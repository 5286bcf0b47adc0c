//! The event that stops a read model or a reaction.

use super::{EventId, RecordedEvent, Subject};

/// An event that a read model or a reaction cannot handle.
///
/// ```
/// use es_framework::event::{EventId, PoisonEvent};
///
/// let (id, subject, reason) = (EventId::FIRST, "/books/42".parse()?, "no title".into());
/// let refused = PoisonEvent { id, subject, reason };
/// assert_eq!(refused.to_string(), "it cannot take event 0 on /books/42: no title");
/// # Ok::<_, es_framework::event::InvalidSubject>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it cannot take event {id} on {subject}: {reason}")]
pub struct PoisonEvent {
    /// The event's id.
    pub id: EventId,
    /// The event's subject.
    pub subject: Subject,
    /// The reason of the failure.
    pub reason: String,
}

impl PoisonEvent {
    /// Creates the report of an event and the reason why it cannot be handled.
    pub fn new(event: &RecordedEvent, reason: impl ToString) -> Self {
        Self {
            id: event.id,
            subject: event.subject.clone(),
            reason: reason.to_string(),
        }
    }
}
