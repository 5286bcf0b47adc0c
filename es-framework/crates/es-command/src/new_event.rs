//! The events of a decision and of its claims, before they are appended.

use std::sync::Arc;

use es_event::{EventCandidate, EventType, Subject, TraceContext};
use serde_json::value::RawValue;

/// An event that is not appended yet.
///
/// ```
/// # use es_framework::{command::UntypedDecision, prelude::*};
/// # #[derive(Event)]
/// # struct BookRemovedEvent {}
/// # let mut decision = UntypedDecision::new("/books/42".parse()?, Metadata::default());
/// decision.push(&BookRemovedEvent {})?;
/// let (events, _) = decision.into_parts();
/// assert_eq!(events[0].subject.as_str(), "/books/42");
/// assert_eq!(events[0].data.get(), r#"{"metadata":{},"payload":{}}"#);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// The event's subject.
    pub subject: Subject,
    /// The event's type.
    pub event_type: EventType,
    /// The event's metadata and payload, as the store keeps them.
    pub data: Box<RawValue>,
}

impl NewEvent {
    /// Returns the event as a candidate of this source.
    #[must_use]
    pub fn into_candidate(self, source: &Arc<str>, trace: Option<&TraceContext>) -> EventCandidate {
        EventCandidate {
            source: Arc::clone(source),
            subject: self.subject,
            event_type: self.event_type,
            data: self.data,
            trace: trace.cloned(),
        }
    }
}
