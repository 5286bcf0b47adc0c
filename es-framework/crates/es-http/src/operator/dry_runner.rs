//! Dry runs: decides on a command as of an event, within the limits of commands, and writes nothing. The HTTP
//! route and the console share it.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, request::Parts};
use es_command::command::{
    CommandDescriptor, CommandError, CommandRequest, CommandResources, DryRun, NewEvent,
};
use es_event::{Caller, EventId, InvalidEventId};
use es_net::PeerAddress;
use es_store::{EventStore, newest_id};
use serde::{Serialize, Serializer, ser::Error as _};
use serde_json::value::RawValue;

use crate::{
    HttpContext, Problem, RequestLimits, context, limits::ConcurrencyLimit, problem::kind,
};
#[cfg(feature = "console")]
use es_command::command::Clock;

/// The name of the query parameter with the last event of the past.
pub(crate) const AT: &str = "at";
/// The name of the query parameter with a role of the caller.
pub(crate) const ROLE: &str = "role";
/// The name of the query parameter with the owner id of the caller.
pub(crate) const OWNER: &str = "owner";

/// Decides on the commands of an application without an append.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct DryRunner {
    commands: Arc<[CommandDescriptor]>,
    command_resources: CommandResources,
    store: Arc<dyn EventStore>,
    metadata_headers: Vec<HeaderName>,
    limits: RequestLimits,
}

/// The response to a dry run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DryRunResponse {
    command: &'static str,
    /// The last event that the states contain.
    pub(super) at: Option<String>,
    accepted: bool,
    subject: Option<String>,
    pub(super) events: Vec<EventResponse>,
    pub(super) reply: Option<Box<RawValue>>,
    /// The problem that the sender of the command would get.
    pub(super) problem: Option<RejectionProblem>,
}

/// The problem that the sender of the command would get.
#[derive(Debug)]
pub(super) struct RejectionProblem(pub(super) Problem);

impl Serialize for RejectionProblem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.0.to_json())
            .map_err(S::Error::custom)?
            .serialize(serializer)
    }
}

/// An event that the command would append.
#[derive(Debug, Serialize)]
pub(super) struct EventResponse {
    pub(super) subject: String,
    pub(super) r#type: String,
    pub(super) data: Box<RawValue>,
}

impl DryRunner {
    /// Creates a runner for these commands.
    #[must_use]
    pub fn new(commands: Arc<[CommandDescriptor]>, context: &HttpContext) -> Self {
        Self {
            commands,
            command_resources: context.command_resources.clone(),
            // A copied test goes into a file, so it holds no personal data.
            store: match &context.personal_data {
                Some(personal) => Arc::new(personal.redacted_store()),
                None => Arc::clone(&context.health.store),
            },
            metadata_headers: context.metadata_headers.clone(),
            limits: context.limits,
        }
    }

    /// Returns a runner that reads from this store, and whose handlers take this clock.
    #[cfg(feature = "console")]
    pub(super) fn with_other_store_and_clock(
        &self,
        store: Arc<dyn EventStore>,
        clock: Clock,
    ) -> Self {
        Self {
            command_resources: self
                .command_resources
                .with_other_store(store)
                .with_clock(clock),
            ..self.clone()
        }
    }

    /// Returns the clock of the application.
    #[cfg(feature = "console")]
    pub(super) fn clock(&self) -> Clock {
        self.command_resources.clock()
    }

    /// Returns the event store.
    #[cfg(feature = "console")]
    pub(super) fn store(&self) -> Arc<dyn EventStore> {
        Arc::clone(&self.store)
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

    /// Decides on a command that a caller sends, as of an event, or as of now. An operator asks for it.
    pub(super) async fn decide_command(
        &self,
        command: &CommandDescriptor,
        at: Option<&str>,
        body: &[u8],
        caller: &Caller,
        request: &Parts,
    ) -> Result<DryRunResponse, Problem> {
        if body.len() > self.limits.body_size {
            return Err(Problem::too_large(self.limits.body_size));
        }
        let Some(limit) = request.extensions.get::<ConcurrencyLimit>() else {
            return Err(Problem::log_internal_error(
                &"the request has no concurrency limit",
            ));
        };
        let _permit = limit.try_acquire()?;
        let at = self.position(at).await?;
        let peer = request.extensions.get::<PeerAddress>();
        tracing::info!(
            command = command.name,
            at = at.map(EventId::get),
            peer = peer.map(|peer| peer.0.to_string()),
            "an operator made a dry run of a command"
        );
        let run = self.decide(command, body, caller, &request.headers, at);
        // A tenth earlier than the limit of all requests, whose problem says that the outcome is unknown.
        let time = self.limits.request_time;
        let time = time.saturating_sub(time.checked_div(10).unwrap_or_default());
        let response = tokio::time::timeout(time, run).await;
        response.unwrap_or_else(|_| Err(Problem::took_too_long(time)))
    }

    /// Returns the last event that the dry run takes into account: the given one, or the newest.
    async fn position(&self, at: Option<&str>) -> Result<Option<EventId>, Problem> {
        let at = at.map(str::parse::<EventId>).transpose();
        let at = at.map_err(|error: InvalidEventId| {
            let detail = format!("{AT}: {error}");
            Problem::new(kind::INVALID_PARAMETER, detail)
        })?;
        let newest = newest_id(&*self.store).await?;
        match at {
            None => Ok(newest),
            Some(at) if newest >= Some(at) => Ok(Some(at)),
            Some(at) => {
                let newest = newest.map_or("there is no event yet".to_owned(), |newest| {
                    format!("the newest event is {newest}")
                });
                let detail = format!("{AT}: event {at} is not recorded; {newest}");
                Err(Problem::new(kind::INVALID_PARAMETER, detail))
            }
        }
    }

    /// Runs the command up to its decision. A rejection is a result, not an error.
    async fn decide(
        &self,
        command: &CommandDescriptor,
        body: &[u8],
        caller: &Caller,
        headers: &HeaderMap,
        at: Option<EventId>,
    ) -> Result<DryRunResponse, Problem> {
        let mut command_context = context::read_command_context(headers, &self.metadata_headers)?;
        command_context.caller = caller.clone();
        let request = CommandRequest {
            body,
            path_parameters: &[],
            context: &command_context,
        };
        let empty = DryRunResponse {
            command: command.name,
            at: at.map(|at| at.to_string()),
            accepted: false,
            subject: None,
            events: Vec::new(),
            reply: None,
            problem: None,
        };
        let roles = command.roles;
        if !roles.is_empty() && !roles.iter().any(|role| caller.has_role(role)) {
            let problem = Some(RejectionProblem(Problem::missing_role(roles)));
            return Ok(DryRunResponse { problem, ..empty });
        }
        match (command.dry_run)(&self.command_resources, request, at).await {
            Ok(run) => Ok(accepted(run, empty)),
            Err(error) if is_rejection(&error) => {
                let problem = Some(RejectionProblem(Problem::from(error)));
                Ok(DryRunResponse { problem, ..empty })
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn accepted(run: DryRun, empty: DryRunResponse) -> DryRunResponse {
    let event = |event: NewEvent| EventResponse {
        subject: event.subject.to_string(),
        r#type: event.event_type.as_str().to_owned(),
        data: event.data,
    };
    DryRunResponse {
        accepted: true,
        subject: Some(run.subject.to_string()),
        events: run.events.into_iter().map(event).collect(),
        reply: run.reply,
        ..empty
    }
}

/// Returns whether the framework or the handler rejects the command because of its values or of the states.
const fn is_rejection(error: &CommandError) -> bool {
    matches!(
        error,
        CommandError::Malformed(_)
            | CommandError::Invalid(_)
            | CommandError::AlreadyExists(_)
            | CommandError::NotFound(_)
            | CommandError::NotAsExpected { .. }
            | CommandError::NotOwner(_)
            | CommandError::ErasedPerson(_)
            | CommandError::Rejected(_)
    )
}
