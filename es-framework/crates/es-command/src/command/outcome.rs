//! The result of a command that was handled.

use serde_json::value::RawValue;

use es_event::{EventId, Subject};

/// The outcome of a command whose events are durable.
///
/// ```
/// # use es_framework::command::CommandOutcome;
/// /// Returns the path of the subject that the command created.
/// fn location(outcome: &CommandOutcome) -> Option<&str> {
///     outcome.created.then(|| outcome.subject.as_str())
/// }
///
/// # let (created, position, latest, reply) = (true, None, None, None);
/// let outcome = CommandOutcome { subject: "/books/42".parse()?, created, position, latest, reply };
/// assert_eq!(location(&outcome), Some("/books/42"));
/// # Ok::<_, es_framework::event::InvalidSubject>(())
/// ```
#[derive(Debug, Clone)]
pub struct CommandOutcome {
    /// The command's subject.
    pub subject: Subject,
    /// True if the command created the subject.
    pub created: bool,
    /// The last event that the command appended, on any subject.
    pub position: Option<EventId>,
    /// The last event of the command's subject, if the command read or wrote it.
    pub latest: Option<EventId>,
    /// The handler's reply, as JSON.
    pub reply: Option<Box<RawValue>>,
}
