//! The command pipeline. Every command passes these steps in this order, whether a client, a
//! reaction or a test sends it:
//!
//! parse → check the owner → validate → lock the subjects → idempotency check → read events and rebuild states →
//! `condition = exists` → decide → `If-Match` → append with claims of unique values → after a conflict, retry from the
//! lock.
//!
//! A subject that has to be pristine and is not answers before everything that follows the idempotency check, because
//! a repeated request may be rejected for what it did itself. So does another subject that has to exist and does not.
//! The append finds this out, so it costs no read of its own; only a command without an append is checked by a read.
//!
//! A dry run passes the same steps as far as the decision, on a read-only view of the event store, without
//! the locks and the idempotency check.
//!
//! The request is parsed once. Then the command loses its Rust type (`prepared_command.rs`), so that these functions
//! are compiled once for all commands. A handler takes its command by value, and a decision that met a
//! conflict is never appended again, so each attempt decides on a clone of the parsed command.
//! A clone of a purchase copies three short strings; parsing and validating it again costs more.

use std::time::Instant;

use super::{
    CommandContext, CommandError, CommandOrder, CommandOutcome, CommandRequest, CommandResources,
    DryRunDecision, Handle, NewEvent, SubjectCondition, UntypedDecision,
    append::{AppendResult, append_decision},
    idempotency::IdempotentRequest,
    metrics,
    prepared_command::{PrepareFunction, PreparedCommand, ReadEvents},
    retry,
};
use crate::unique::plan_claims;

/// Handles the command of a request, up to its recorded events. HTTP routes and reactions enter the pipeline here.
pub(super) async fn execute(
    name: &'static str,
    prepare: PrepareFunction,
    resources: &CommandResources,
    request: CommandRequest<'_>,
    order: Option<&CommandOrder>,
) -> Result<CommandOutcome, CommandError> {
    let begin = Instant::now();
    let result = match CommandExecution::begin(name, prepare, resources, request) {
        Ok(execution) => execution.run_in_order(order).await,
        Err(error) => Err(error),
    };
    metrics::count_command(name, &result, begin.elapsed());
    result
}

/// Decides on the command of a request for a dry run. Appends nothing, and counts no command.
pub(super) async fn decide(
    prepare: PrepareFunction,
    resources: &CommandResources,
    request: CommandRequest<'_>,
) -> Result<DryRunDecision, CommandError> {
    let command = prepare(resources, &request)?;
    let execution = CommandExecution::new(command, resources, request.context);
    execution.decide_only().await
}

/// Handles a command that has no idempotency key. Tests of handlers enter the pipeline here.
///
/// # Errors
/// The command is not valid, the handler rejects it, or the event store does not store its events.
#[doc(hidden)]
pub async fn handle_command<C: Handle>(
    resources: &CommandResources,
    command: C,
    context: &CommandContext,
) -> Result<CommandOutcome, CommandError> {
    let command = PreparedCommand::new(command, b"", resources, context)?;
    CommandExecution::new(command, resources, context)
        .run()
        .await
}

/// A command on its way through the pipeline.
struct CommandExecution<'a> {
    resources: &'a CommandResources,
    context: &'a CommandContext,
    command: PreparedCommand,
    idempotency: Option<IdempotentRequest>,
}

impl<'a> CommandExecution<'a> {
    const fn new(
        command: PreparedCommand,
        resources: &'a CommandResources,
        context: &'a CommandContext,
    ) -> Self {
        Self {
            resources,
            context,
            command,
            idempotency: None,
        }
    }

    fn begin(
        name: &str,
        prepare: PrepareFunction,
        resources: &'a CommandResources,
        request: CommandRequest<'a>,
    ) -> Result<Self, CommandError> {
        let command = prepare(resources, &request)?;
        Ok(Self {
            idempotency: IdempotentRequest::from_request(&request, name)?,
            ..Self::new(command, resources, request.context)
        })
    }

    /// Runs after the earlier commands of an order. Nothing is awaited before the command has its place in it.
    async fn run_in_order(
        mut self,
        order: Option<&CommandOrder>,
    ) -> Result<CommandOutcome, CommandError> {
        let place = order.map(|order| order.enter(self.command.subjects()));
        if let Some(place) = &place {
            place.wait_for_earlier().await;
        }
        self.run().await
    }

    async fn run(mut self) -> Result<CommandOutcome, CommandError> {
        for attempt in 0..retry::MAX_ATTEMPTS {
            if attempt > 0 {
                retry::back_off(attempt, &self.resources.random).await;
                metrics::count_retry(self.command.name);
            }
            match self.attempt().await? {
                AppendResult::Finished(outcome) => return Ok(outcome),
                AppendResult::Conflict => {}
            }
        }
        Err(CommandError::Contended(self.command.subject))
    }

    async fn decide_only(mut self) -> Result<DryRunDecision, CommandError> {
        let decided = self.read_and_decide().await;
        self.check_conditions_after(decided.as_ref().err()).await?;
        let (_, decision) = decided?;
        let store = &*self.resources.store;
        let owned = decision.owned_values();
        plan_claims(store, self.resources.unique_keys(), owned).await?;
        let (events, reply) = decision.into_parts();
        Ok(DryRunDecision {
            subject: self.command.subject,
            events,
            reply,
        })
    }

    /// Makes one attempt. A conflict that a new decision can resolve is a value, not an error.
    async fn attempt(&mut self) -> Result<AppendResult, CommandError> {
        let locking = self.command.lock_subjects(self.resources, self.context);
        let _guard = locking.await?;
        if let Some(outcome) = self.find_recorded_outcome().await? {
            return Ok(AppendResult::Finished(outcome));
        }
        let result = self.decide_and_append().await;
        if matches!(result, Ok(AppendResult::Finished(_))) {
            return result;
        }
        // A copy of the command that was recorded after the check causes a conflict. If its events were read, the handler may
        // have refused the command because of them.
        match self.find_recorded_outcome().await {
            Ok(Some(outcome)) => return Ok(AppendResult::Finished(outcome)),
            Ok(None) => {}
            // An append whose result is unknown stays unknown.
            Err(error) => return result.and(Err(error)),
        }
        self.check_conditions_after(result.as_ref().err()).await?;
        result
    }

    /// Reads, decides and appends, after the idempotency check.
    async fn decide_and_append(&mut self) -> Result<AppendResult, CommandError> {
        let (read, decision) = self.read_and_decide().await?;
        let Self {
            resources, command, ..
        } = self;
        if decision.is_empty() {
            command.check_conditions(&*resources.store).await?;
        }
        let outcome = CommandOutcome {
            subject: command.subject.clone(),
            created: command.condition == SubjectCondition::Pristine && !decision.is_empty(),
            position: read.latest,
            latest: read.latest,
            reply: None,
        };
        let idempotency = self.idempotency.as_ref();
        append_decision(
            resources,
            decision,
            read.preconditions,
            outcome,
            self.context,
            idempotency,
        )
        .await
    }

    /// Reads, and decides on what was read.
    async fn read_and_decide(&mut self) -> Result<(ReadEvents, UntypedDecision), CommandError> {
        let Self {
            resources, context, ..
        } = *self;
        let read = self.command.read(resources, context).await?;
        let decided = self.decide();
        // The states are current even if the handler rejects the command.
        self.command.cache_states(resources);
        let comes_first = CommandError::precedes_expected_version;
        if !decided.as_ref().is_err_and(comes_first) {
            let store = &*resources.store;
            self.command
                .check_expected_version(store, context, read.latest)
                .await?;
        }
        Ok((read, decided?))
    }

    /// Calls the handler. The decision proves that each event is read back as it is written.
    fn decide(&self) -> Result<UntypedDecision, CommandError> {
        let subject = self.command.subject.clone();
        let mut decision = UntypedDecision::new(subject, self.context.metadata.clone());
        let span = tracing::info_span!("decide", command = self.command.name);
        span.in_scope(|| self.command.decide(&mut decision))?;
        check_upcasts(self.resources, &decision)?;
        Ok(decision)
    }

    /// Checks the conditions on subjects after a conflict or a rejection. After another error, such as an append whose
    /// result is unknown, the events of the subject may be the command's own.
    async fn check_conditions_after(
        &self,
        error: Option<&CommandError>,
    ) -> Result<(), CommandError> {
        if error.is_none_or(CommandError::is_rejection) {
            self.command
                .check_conditions(&*self.resources.store)
                .await?;
        }
        Ok(())
    }

    /// Returns the outcome of an earlier command with the same idempotency key.
    async fn find_recorded_outcome(&self) -> Result<Option<CommandOutcome>, CommandError> {
        match &self.idempotency {
            Some(check) => check.find_recorded_outcome(&*self.resources.store).await,
            None => Ok(None),
        }
    }
}

/// Proves that upcasters can read the events, if a handler returns events of an earlier version.
fn check_upcasts(
    resources: &CommandResources,
    decision: &UntypedDecision,
) -> Result<(), CommandError> {
    let upcasters = resources.states.upcasters();
    let is_upcast = |event: &&NewEvent| upcasters.get(event.event_type.as_str()).is_some();
    for event in decision.events().filter(is_upcast) {
        let candidate = event.clone().into_candidate(&resources.source, None);
        let checked = upcasters.check_candidate(&candidate);
        checked.map_err(|error| {
            let event_type = &event.event_type;
            let message =
                format!("{event_type} would not be read back through its upcaster: {error}");
            CommandError::Encode(message)
        })?;
    }
    Ok(())
}
