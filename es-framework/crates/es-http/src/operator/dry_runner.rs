//! Dry runs: decides on a command as of an event, within the limits of commands, and writes nothing.

use std::sync::Arc;

use axum::http::{HeaderName, request::Parts};
use es_command::command::{
    CommandDescriptor, CommandRequest, CommandResources, DryRun, DryRunError, DryRunRejection,
    dry_run,
};
use es_event::{Caller, EventId, InvalidEventId};
use es_net::PeerAddress;

use crate::{
    HttpContext, Problem, RequestLimits, context, limits::ConcurrencyLimit, problem::kind,
};

/// The name of the query parameter with the last event of the past.
pub(crate) const AT: &str = "at";
/// The name of the query parameter with a role of the caller.
pub(crate) const ROLE: &str = "role";
/// The name of the query parameter with the owner id of the caller.
pub(crate) const OWNER: &str = "owner";

/// Decides on the commands of an application without an append.
#[derive(Debug)]
pub(super) struct DryRunner {
    commands: Arc<[CommandDescriptor]>,
    command_resources: CommandResources,
    metadata_headers: Vec<HeaderName>,
    limits: RequestLimits,
}

impl DryRunner {
    /// Creates a runner for these commands.
    pub(super) fn new(commands: Arc<[CommandDescriptor]>, context: &HttpContext) -> Self {
        Self {
            commands,
            command_resources: context.command_resources.clone(),
            metadata_headers: context.metadata_headers.clone(),
            limits: context.limits,
        }
    }

    /// Returns the command with this name.
    pub(super) fn find_command(&self, name: &str) -> Result<&CommandDescriptor, Problem> {
        let command = self.commands.iter().find(|command| command.name == name);
        command.ok_or_else(|| {
            let name: String = name.chars().take(200).collect();
            let detail = format!("the application has no command {name}");
            Problem::new(kind::NOT_FOUND, detail)
        })
    }

    /// Decides on a command that a caller sends, as of an event, or as of now. A rejection is the problem
    /// that the caller would get. An operator asks for it.
    pub(super) async fn decide_command(
        &self,
        command: &CommandDescriptor,
        at: Option<&str>,
        body: &[u8],
        caller: &Caller,
        request: &Parts,
    ) -> Result<DryRun<Problem>, Problem> {
        if body.len() > self.limits.body_size {
            return Err(Problem::too_large(self.limits.body_size));
        }
        let Some(limit) = request.extensions.get::<ConcurrencyLimit>() else {
            return Err(Problem::log_internal_error(
                &"the request has no concurrency limit",
            ));
        };
        let _permit = limit.try_acquire()?;
        let at = at.map(str::parse::<EventId>).transpose();
        let at = at.map_err(|error: InvalidEventId| invalid_position(&error))?;
        let peer = request.extensions.get::<PeerAddress>();
        tracing::info!(
            command = command.name,
            at = at.map(EventId::get),
            peer = peer.map(|peer| peer.0.to_string()),
            "an operator made a dry run of a command"
        );
        let mut context = context::read_command_context(&request.headers, &self.metadata_headers)?;
        context.caller = caller.clone();
        let request = CommandRequest {
            body,
            path_parameters: &[],
            context: &context,
        };
        let run = dry_run(&self.command_resources, command, request, at);
        // A tenth earlier than the limit of all requests, whose problem says that the outcome is unknown.
        let limit = self.limits.request_time;
        let limit = limit.saturating_sub(limit.checked_div(10).unwrap_or_default());
        match tokio::time::timeout(limit, run).await {
            Ok(run) => Ok(run?.map_rejection(Problem::from)),
            Err(_) => Err(Problem::took_too_long(limit)),
        }
    }
}

impl From<DryRunError> for Problem {
    fn from(error: DryRunError) -> Self {
        match error {
            DryRunError::NoSuchEvent { .. } => invalid_position(&error),
            DryRunError::Command(error) => error.into(),
        }
    }
}

impl From<DryRunRejection> for Problem {
    fn from(rejection: DryRunRejection) -> Self {
        match rejection {
            DryRunRejection::MissingRole(roles) => Self::missing_role(roles),
            DryRunRejection::Command(error) => error.into(),
        }
    }
}

fn invalid_position(error: &dyn std::error::Error) -> Problem {
    Problem::new(kind::INVALID_PARAMETER, format!("{AT}: {error}"))
}
