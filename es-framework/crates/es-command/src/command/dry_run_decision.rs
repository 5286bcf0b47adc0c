//! The decision on a command for which nothing is appended.

use futures_util::future::BoxFuture;
use serde_json::value::RawValue;

use super::{CommandError, CommandRequest, CommandResources, NewEvent};
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

/// Decides on a request as the pipeline does, and appends nothing.
///
/// ```
/// use es_framework::command::{CommandDescriptor, DecisionFunction};
///
/// fn decision_function(command: &CommandDescriptor) -> DecisionFunction {
///     command.decide
/// }
/// ```
pub type DecisionFunction = for<'a> fn(
    &'a CommandResources,
    CommandRequest<'a>,
) -> BoxFuture<'a, Result<DryRunDecision, CommandError>>;
