//! The decision on a command for which nothing is appended.

use serde_json::value::RawValue;

use super::NewEvent;
use es_event::Subject;

/// The decision of a handler that nothing was appended for.
///
/// ```
/// use es_framework::command::DryRunDecision;
///
/// /// Returns the number of events that the command would append to its own subject.
/// fn count_own(decision: &DryRunDecision) -> usize {
///     let subjects = decision.events.iter().map(|event| &event.subject);
///     subjects.filter(|subject| **subject == decision.subject).count()
/// }
/// ```
#[derive(Debug)]
pub struct DryRunDecision {
    /// The subject of the command.
    pub subject: Subject,
    /// The events that the command would append.
    pub events: Vec<NewEvent>,
    /// The reply to the client, if the handler returns one.
    pub reply: Option<Box<RawValue>>,
}
