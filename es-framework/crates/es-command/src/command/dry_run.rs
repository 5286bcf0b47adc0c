//! The result of a dry run: the decision on a command, without an append.

use futures_util::future::BoxFuture;
use serde_json::value::RawValue;

use super::{CommandError, CommandRequest, CommandResources, NewEvent};
use es_event::{EventId, Subject};

/// The decision of a handler that nothing was appended for.
///
/// ```
/// # async fn example(
/// #     resources: &es_framework::command::CommandResources,
/// #     request: es_framework::command::CommandRequest<'_>,
/// #     command: es_framework::command::CommandDescriptor,
/// # ) -> Result<(), es_framework::command::CommandError> {
/// let last = "41".parse().ok(); // the events 0 to 41
/// let run = (command.dry_run)(resources, request, last).await?;
/// for event in run.events {
///     println!("{} on {}", event.event_type, event.subject);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DryRun {
    /// The subject of the command.
    pub subject: Subject,
    /// The events that the command would append.
    pub events: Vec<NewEvent>,
    /// The reply to the client, if the handler returns one.
    pub reply: Option<Box<RawValue>>,
}

/// Decides on a request as of an event, or as of an empty store, and appends nothing.
///
/// ```
/// use es_framework::command::{CommandDescriptor, DryRunFunction};
///
/// fn dry_run_of(command: &CommandDescriptor) -> DryRunFunction {
///     command.dry_run
/// }
/// ```
pub type DryRunFunction = for<'a> fn(
    &'a CommandResources,
    CommandRequest<'a>,
    Option<EventId>,
) -> BoxFuture<'a, Result<DryRun, CommandError>>;
