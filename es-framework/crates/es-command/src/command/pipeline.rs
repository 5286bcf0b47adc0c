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
//! The request is parsed once. A handler takes its command by value, and a decision that met a
//! conflict is never appended again, so each attempt decides on a clone of the parsed command.
//! A clone of a purchase copies three short strings; parsing and validating it again costs more.

use std::time::Instant;

use futures_util::{FutureExt as _, future::BoxFuture};

use super::{
    Command, CommandContext, CommandError, CommandOutcome, CommandRequest, CommandResources,
    DryRunDecision, Handle, NewEvent, SubjectCondition, UntypedDecision,
    append::{AppendResult, append_decision},
    idempotency::IdempotentRequest,
    inputs::{DecisionInputs, ReadEvents},
    metrics,
    parse::{parse_command, validate_command},
    retry,
};
use crate::unique::plan_claims;

/// Handles a command from its JSON text to its recorded events. Descriptors and through them the
/// HTTP routes and the reactions enter the pipeline here.
pub(super) fn handle_request<'a, C: Handle>(
    resources: &'a CommandResources,
    request: CommandRequest<'a>,
) -> BoxFuture<'a, Result<CommandOutcome, CommandError>> {
    async move {
        let begin = Instant::now();
        let result = parse_and_handle::<C>(resources, request).await;
        metrics::count_command(C::NAME, &result, begin.elapsed());
        result
    }
    .boxed()
}

/// Decides on a command for a dry run. Appends nothing, and counts no command.
pub(super) fn decide_request<'a, C: Handle>(
    resources: &'a CommandResources,
    request: CommandRequest<'a>,
) -> BoxFuture<'a, Result<DryRunDecision, CommandError>> {
    async move {
        let command: C = parse_command(&request)?;
        check_owner(&command, request.context)?;
        validate_command(&command, request.body)?;
        let mut inputs = DecisionInputs::from_command(&command, resources, request.context)?;
        let decided = read_and_decide(resources, command, &mut inputs, request.context).await;
        if decided
            .as_ref()
            .err()
            .is_none_or(CommandError::is_rejection)
        {
            inputs.check_conditions(&*resources.store).await?;
        }
        let (_, decision) = decided?;
        let owned = decision.owned_values();
        plan_claims(&*resources.store, resources.unique_keys(), owned).await?;
        let (events, reply) = decision.into_parts();
        Ok(DryRunDecision {
            subject: inputs.subject,
            events,
            reply,
        })
    }
    .boxed()
}

async fn parse_and_handle<C: Handle>(
    resources: &CommandResources,
    request: CommandRequest<'_>,
) -> Result<CommandOutcome, CommandError> {
    let command: C = parse_command(&request)?;
    let idempotency = IdempotentRequest::from_request(&request, C::NAME)?;
    check_owner(&command, request.context)?;
    validate_command(&command, request.body)?;
    handle_parsed(resources, &command, request.context, idempotency.as_ref()).await
}

/// Handles a parsed command that has no idempotency key. Tests of handlers enter the pipeline here.
///
/// # Errors
/// The command is not valid, the handler rejects it, or the event store does not store its events.
#[doc(hidden)]
pub async fn handle_command<C: Handle>(
    resources: &CommandResources,
    command: &C,
    context: &CommandContext,
) -> Result<CommandOutcome, CommandError> {
    check_owner(command, context)?;
    validate_command(command, b"")?;
    handle_parsed(resources, command, context, None).await
}

/// Handles a parsed command.
async fn handle_parsed<C: Handle>(
    resources: &CommandResources,
    command: &C,
    context: &CommandContext,
    idempotency: Option<&IdempotentRequest>,
) -> Result<CommandOutcome, CommandError> {
    let mut inputs = DecisionInputs::from_command(command, resources, context)?;
    for attempt in 0..retry::MAX_ATTEMPTS {
        if attempt > 0 {
            retry::back_off(attempt, &resources.random).await;
            metrics::count_retry(C::NAME);
        }
        match attempt_once(resources, command, &mut inputs, context, idempotency).await? {
            AppendResult::Finished(outcome) => return Ok(outcome),
            AppendResult::Conflict => {}
        }
    }
    Err(CommandError::Contended(inputs.subject))
}

/// Checks the rule of the command about its owner, before anything is read.
fn check_owner<C: Command>(command: &C, context: &CommandContext) -> Result<(), CommandError> {
    Ok(command.check_owner(&context.caller.under_rule(C::OWNER))?)
}

/// Makes one attempt. A conflict that a new decision can resolve is a value, not an error.
async fn attempt_once<C: Handle>(
    resources: &CommandResources,
    command: &C,
    inputs: &mut DecisionInputs<C>,
    context: &CommandContext,
    idempotency: Option<&IdempotentRequest>,
) -> Result<AppendResult, CommandError> {
    let _guard = inputs.lock_subjects(resources, context).await?;
    if let Some(outcome) = find_recorded_outcome(resources, idempotency).await? {
        return Ok(AppendResult::Finished(outcome));
    }
    let result = decide_and_append(resources, command, inputs, context, idempotency).await;
    if matches!(result, Ok(AppendResult::Finished(_))) {
        return result;
    }
    // A copy of the command that was recorded after the check causes a conflict. If its events were read, the handler may
    // have refused the command because of them.
    match find_recorded_outcome(resources, idempotency).await {
        Ok(Some(outcome)) => return Ok(AppendResult::Finished(outcome)),
        Ok(None) => {}
        // An append whose result is unknown stays unknown.
        Err(error) => return result.and(Err(error)),
    }
    // An append whose result is unknown stays unknown: the events of the subject may be its own.
    if result.as_ref().err().is_none_or(CommandError::is_rejection) {
        inputs.check_conditions(&*resources.store).await?;
    }
    result
}

/// Reads, decides and appends, after the idempotency check.
async fn decide_and_append<C: Handle>(
    resources: &CommandResources,
    command: &C,
    inputs: &mut DecisionInputs<C>,
    context: &CommandContext,
    idempotency: Option<&IdempotentRequest>,
) -> Result<AppendResult, CommandError> {
    let (read, decision) = read_and_decide(resources, command.clone(), inputs, context).await?;
    if decision.is_empty() {
        inputs.check_conditions(&*resources.store).await?;
    }
    let ReadEvents {
        latest,
        preconditions,
    } = read;
    let outcome = CommandOutcome {
        subject: inputs.subject.clone(),
        created: C::CONDITION == SubjectCondition::Pristine,
        position: latest,
        latest,
        reply: None,
    };
    append_decision(
        resources,
        decision,
        preconditions,
        outcome,
        context,
        idempotency,
    )
    .await
}

/// Reads, and decides on what was read.
async fn read_and_decide<C: Handle>(
    resources: &CommandResources,
    command: C,
    inputs: &mut DecisionInputs<C>,
    context: &CommandContext,
) -> Result<(ReadEvents, UntypedDecision), CommandError> {
    let read = inputs.read(resources, context).await?;
    let decision = decide(resources, command, inputs, context);
    // The states are current even if the handler rejects the command.
    inputs.cache_states(resources);
    let decision = match decision {
        Err(error) if error.precedes_expected_version() => return Err(error),
        decision => decision,
    };
    let store = &*resources.store;
    inputs
        .check_expected_version(store, context, read.latest)
        .await?;
    Ok((read, decision?))
}

/// Returns the outcome of an earlier command with the same idempotency key.
async fn find_recorded_outcome(
    resources: &CommandResources,
    idempotency: Option<&IdempotentRequest>,
) -> Result<Option<CommandOutcome>, CommandError> {
    match idempotency {
        Some(check) => check.find_recorded_outcome(&*resources.store).await,
        None => Ok(None),
    }
}

/// Calls the handler. The decision proves that each event is read back as it is written.
fn decide<C: Handle>(
    resources: &CommandResources,
    command: C,
    inputs: &DecisionInputs<C>,
    context: &CommandContext,
) -> Result<UntypedDecision, CommandError> {
    let mut decision = UntypedDecision::new(inputs.subject.clone(), context.metadata.clone());
    let span = tracing::info_span!("decide", command = C::NAME);
    span.in_scope(|| inputs.decide(command, &mut decision))?;
    check_upcasts(resources, &decision)?;
    Ok(decision)
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
