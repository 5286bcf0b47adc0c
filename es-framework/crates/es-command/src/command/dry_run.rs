//! Dry runs: the decision on a command as of an event, without an append.

use std::sync::Arc;

use super::{
    CommandDescriptor, CommandError, CommandRequest, CommandResources, DryRunDecision,
    past_store::{PastEnd, PastStore},
};
use es_event::EventId;
use es_store::newest_id;

/// The outcome of a dry run.
///
/// ```
/// use es_framework::command::DryRun;
///
/// /// Returns a line about the outcome.
/// fn describe(run: DryRun) -> String {
///     match run.decision {
///         Ok(decision) => format!("{} appends {} events", run.command.name, decision.events.len()),
///         Err(rejection) => format!("{} is rejected: {rejection}", run.command.name),
///     }
/// }
/// ```
#[derive(Debug)]
pub struct DryRun {
    /// The command.
    pub command: CommandDescriptor,
    /// The last event that the states contain, or `None` in an empty store.
    pub at: Option<EventId>,
    /// The decision, or the rejection.
    pub decision: Result<DryRunDecision, DryRunRejection>,
}

/// The reason why a command is rejected in a dry run.
///
/// ```
/// use es_framework::command::DryRunRejection;
///
/// let rejection = DryRunRejection::MissingRole(&["staff"]);
/// assert_eq!(rejection.to_string(), "the caller has none of the roles staff");
/// ```
#[derive(Debug, thiserror::Error)]
pub enum DryRunRejection {
    /// The caller has none of the roles of the command, so its route would refuse the request.
    #[error("the caller has none of the roles {}", .0.join(", "))]
    MissingRole(&'static [&'static str]),
    /// The values of the command or the states lead to a rejection.
    #[error(transparent)]
    Command(#[from] CommandError),
}

/// The reason why a dry run has no outcome.
///
/// ```
/// use es_framework::{command::DryRunError, event::EventId};
///
/// let error = DryRunError::NoSuchEvent { at: EventId::FIRST, newest: None };
/// assert_eq!(error.to_string(), "event 0 is not recorded; there is no event yet");
/// ```
#[derive(Debug, thiserror::Error)]
pub enum DryRunError {
    /// The event after which the command is tried is not recorded.
    #[error("event {at} is not recorded; {}", describe_newest(*newest))]
    NoSuchEvent {
        /// The event.
        at: EventId,
        /// The newest event of the store.
        newest: Option<EventId>,
    },
    /// The command failed for a reason other than its values and the states.
    #[error(transparent)]
    Command(#[from] CommandError),
}

/// Decides on a command as of an event, or as of now. Appends nothing, and counts no command. A rejection is an outcome,
/// not an error.
///
/// ```
/// use es_framework::command::{
///     CommandDescriptor, CommandRequest, CommandResources, DryRunError, dry_run,
/// };
///
/// /// Returns whether a client could send this request now.
/// async fn is_accepted(
///     resources: &CommandResources,
///     command: &CommandDescriptor,
///     request: CommandRequest<'_>,
/// ) -> Result<bool, DryRunError> {
///     let run = dry_run(resources, command, request, None).await?;
///     Ok(run.decision.is_ok())
/// }
/// ```
///
/// # Errors
/// The event is not recorded, or the command fails for a reason other than its values and the states.
pub async fn dry_run(
    resources: &CommandResources,
    command: &CommandDescriptor,
    request: CommandRequest<'_>,
    at: Option<EventId>,
) -> Result<DryRun, DryRunError> {
    let newest = newest_id(&*resources.store)
        .await
        .map_err(CommandError::from)?;
    let at = match at {
        None => newest,
        Some(at) if newest >= Some(at) => Some(at),
        Some(at) => return Err(DryRunError::NoSuchEvent { at, newest }),
    };
    let past_store = PastStore::new(Arc::clone(&resources.store), PastEnd::Event(at));
    let past = resources.with_other_store(Arc::new(past_store));
    let caller = &request.context.caller;
    let roles = command.roles;
    let has_role = roles.is_empty() || roles.iter().any(|role| caller.has_role(role));
    let decision = if has_role {
        match command.decide(&past, request).await {
            Err(error) if !error.is_rejection() => return Err(error.into()),
            decision => decision.map_err(DryRunRejection::from),
        }
    } else {
        Err(DryRunRejection::MissingRole(roles))
    };
    Ok(DryRun {
        command: *command,
        at,
        decision,
    })
}

fn describe_newest(newest: Option<EventId>) -> String {
    newest.map_or_else(
        || "there is no event yet".to_owned(),
        |newest| format!("the newest event is {newest}"),
    )
}
