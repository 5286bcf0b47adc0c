//! The inputs of a decision: which events are read for it, the states that follow from them, and
//! the preconditions that must still hold when the decision is appended.

use futures_util::future::try_join_all;
use tracing::Instrument as _;

use super::{
    CommandContext, CommandError, CommandResources, Handle, HandlerContext, Parameter,
    ParameterOrigin, SubjectCondition, Violation, handler_context::ResolvedArgument,
};
use crate::state::{CachedState, RebuildError, StateDescriptor, StateScope};
use es_event::{EventId, InvalidSubjectValue, OwnerRule, Subject};
use es_store::{Precondition, latest_event, newest_id};

/// The subjects and parameters of a command, known before anything is read.
#[derive(Debug)]
pub(super) struct InputPlan {
    /// The command's own subject.
    pub(super) subject: Subject,
    condition: SubjectCondition,
    /// The rule about the owner.
    owner: Option<OwnerRule>,
    /// The handler's parameters. A state has the scope that it is rebuilt from.
    parameters: Vec<(&'static Parameter, Option<StateScope>)>,
}

/// The inputs of one decision.
#[derive(Debug)]
pub(super) struct DecisionInputs {
    /// The last event of the command's own subject, if it was read.
    pub(super) latest: Option<EventId>,
    /// The preconditions of the append, derived from what was read.
    pub(super) preconditions: Vec<Precondition>,
    /// The handler's arguments.
    pub(super) handler_context: HandlerContext,
}

/// An argument of the handler, with the precondition that follows from reading it.
type ReadArgument = (ResolvedArgument, Option<Precondition>);

impl InputPlan {
    /// Resolves the subjects of a command.
    pub(super) fn from_command<C: Handle>(command: &C) -> Result<Self, CommandError> {
        Self::resolve(command).map_err(|part| {
            let message = part.to_string();
            let pointer = format!("/{}", part.field);
            CommandError::Invalid(vec![Violation { pointer, message }])
        })
    }

    fn resolve<C: Handle>(command: &C) -> Result<Self, InvalidSubjectValue> {
        let scope = |(index, parameter): (usize, &'static Parameter)| {
            let scope = match parameter.origin {
                ParameterOrigin::State(_) => Some(StateScope {
                    subject: command.parameter_subject(index)?,
                    recursive: parameter.recursive,
                }),
                ParameterOrigin::Service(_)
                | ParameterOrigin::Metadata
                | ParameterOrigin::Caller => None,
            };
            Ok((parameter, scope))
        };
        Ok(Self {
            subject: command.subject()?,
            condition: C::CONDITION,
            owner: C::OWNER,
            parameters: C::PARAMETERS
                .iter()
                .enumerate()
                .map(scope)
                .collect::<Result<_, InvalidSubjectValue>>()?,
        })
    }

    /// The subjects that are read. A command that reads nothing relies on the store's
    /// preconditions alone.
    pub(super) fn subjects_to_read(&self, context: &CommandContext) -> Vec<&Subject> {
        let scopes = self
            .parameters
            .iter()
            .filter_map(|(_, scope)| scope.as_ref());
        let mut subjects: Vec<_> = scopes.map(|scope| &scope.subject).collect();
        if self.needs_latest_event(context) {
            subjects.push(&self.subject);
        }
        subjects
    }

    fn needs_latest_event(&self, context: &CommandContext) -> bool {
        self.condition == SubjectCondition::Exists || context.expected.is_some()
    }

    /// Returns the last event of the command's own subject if one of the states was rebuilt from
    /// exactly that subject.
    fn latest_of_own_state(&self, arguments: &[ReadArgument]) -> Option<Option<EventId>> {
        let mut parameters = self.parameters.iter().zip(arguments);
        parameters.find_map(|((_, scope), (argument, _))| match (scope, argument) {
            (Some(scope), ResolvedArgument::State(state))
                if scope.subject == self.subject && !scope.recursive =>
            {
                Some(state.latest.map(|latest| latest.id))
            }
            _ => None,
        })
    }
}

/// Reads the events of every state that the handler takes, rebuilds the states, and collects the
/// handler's other arguments.
pub(super) async fn rebuild_arguments(
    resources: &CommandResources,
    plan: &InputPlan,
) -> Result<Vec<ReadArgument>, CommandError> {
    let parameters = plan.parameters.iter();
    let arguments =
        parameters.map(|(parameter, scope)| argument(resources, parameter, scope.as_ref()));
    try_join_all(arguments).await
}

/// Returns the argument for one parameter.
async fn argument(
    resources: &CommandResources,
    parameter: &Parameter,
    scope: Option<&StateScope>,
) -> Result<ReadArgument, CommandError> {
    match (parameter.origin, scope) {
        (ParameterOrigin::State(descriptor), Some(scope)) => {
            let (state, precondition) = read_state(resources, descriptor, scope).await?;
            Ok((ResolvedArgument::State(state), Some(precondition)))
        }
        (ParameterOrigin::Service(service), _) => match resources.services.get(service) {
            Some(service) => Ok((ResolvedArgument::Service(service), None)),
            None => Err(CommandError::NotProvided(service.name)),
        },
        (ParameterOrigin::Caller, _) => Ok((ResolvedArgument::Caller, None)),
        (ParameterOrigin::Metadata | ParameterOrigin::State(_), _) => {
            Ok((ResolvedArgument::Metadata, None))
        }
    }
}

/// Rebuilds a state and derives the precondition that its scope has no newer event.
async fn read_state(
    resources: &CommandResources,
    descriptor: StateDescriptor,
    scope: &StateScope,
) -> Result<(CachedState, Precondition), CommandError> {
    let subject = scope.subject.clone();
    let state = rebuild_state(resources, descriptor, scope).await?;
    let latest = state.latest.map(|latest| latest.id);
    let precondition = match (scope.recursive, latest) {
        (false, _) => is_unchanged(subject, latest),
        (true, Some(latest)) => Precondition::SubtreeIsOnEventId(subject, latest),
        (true, None) => Precondition::SubtreeIsPristine(subject),
    };
    Ok((state, precondition))
}

async fn rebuild_state(
    resources: &CommandResources,
    descriptor: StateDescriptor,
    scope: &StateScope,
) -> Result<CachedState, CommandError> {
    let span = tracing::info_span!(
        "rebuild",
        state = descriptor.name,
        subject = %scope.subject,
        events = tracing::field::Empty
    );
    let state = descriptor.rebuild(&resources.states, scope);
    let state = state.instrument(span).await;
    state.map_err(|error| match error {
        RebuildError::Store(error) => error.into(),
        RebuildError::Decode(error) => CommandError::Decode(error),
    })
}

/// Checks `If-Match`, the command's condition and the required states, and derives the
/// preconditions of the append.
pub(super) async fn check_conditions(
    resources: &CommandResources,
    plan: &InputPlan,
    context: &CommandContext,
    arguments: Vec<ReadArgument>,
) -> Result<DecisionInputs, CommandError> {
    let latest = match plan.latest_of_own_state(&arguments) {
        Some(latest) => latest,
        None if plan.needs_latest_event(context) => {
            let latest = latest_event(&*resources.store, plan.subject.clone(), false).await?;
            latest.map(|event| event.id)
        }
        None => None,
    };
    check_expected_version(resources, plan, context, latest).await?;
    if plan.condition == SubjectCondition::Exists && latest.is_none() {
        return Err(CommandError::NotFound(plan.subject.clone()));
    }
    check_required_states(plan, &arguments)?;

    let own_subject = match plan.condition {
        SubjectCondition::Pristine => Some(Precondition::SubjectIsPristine(plan.subject.clone())),
        SubjectCondition::Exists => Some(is_unchanged(plan.subject.clone(), latest)),
        SubjectCondition::None => None,
    };
    let expected_version = context.expected.as_ref();
    let expected_version = expected_version.map(|_| is_unchanged(plan.subject.clone(), latest));
    let (arguments, read): (Vec<_>, Vec<_>) = arguments.into_iter().unzip();
    let mut preconditions = Vec::new();
    let derived = read.into_iter().chain([expected_version, own_subject]);
    for precondition in derived.flatten() {
        if !preconditions.contains(&precondition) {
            preconditions.push(precondition);
        }
    }
    let handler_context = HandlerContext::new(plan.subject.clone(), context.metadata.clone());
    let handler_context = handler_context.with_caller(context.caller.under_rule(plan.owner));
    Ok(DecisionInputs {
        latest,
        preconditions,
        handler_context: handler_context.with_arguments(arguments),
    })
}

async fn check_expected_version(
    resources: &CommandResources,
    plan: &InputPlan,
    context: &CommandContext,
    latest: Option<EventId>,
) -> Result<(), CommandError> {
    let Some(expected) = &context.expected else {
        return Ok(());
    };
    let newest = if expected.has_position() {
        newest_id(&*resources.store).await?
    } else {
        latest
    };
    if expected.is_met_by(latest, newest) {
        Ok(())
    } else {
        let subject = plan.subject.clone();
        Err(CommandError::NotAsExpected { subject, latest })
    }
}

/// Checks that every state without `Option` exists.
fn check_required_states(plan: &InputPlan, arguments: &[ReadArgument]) -> Result<(), CommandError> {
    for ((parameter, scope), (argument, _)) in plan.parameters.iter().zip(arguments) {
        if let (Some(scope), ResolvedArgument::State(state)) = (scope, argument)
            && !state.exists
            && !parameter.optional
        {
            return Err(CommandError::NotFound(scope.subject.clone()));
        }
    }
    Ok(())
}

/// Caches the rebuilt states for the next commands on their subjects.
pub(super) fn cache_states(
    resources: &CommandResources,
    plan: &InputPlan,
    handler_context: HandlerContext,
) {
    let arguments = handler_context.into_arguments();
    for ((parameter, scope), argument) in plan.parameters.iter().zip(arguments) {
        if let (ParameterOrigin::State(descriptor), Some(scope), ResolvedArgument::State(state)) =
            (parameter.origin, scope, argument)
        {
            descriptor.store_in_cache(&resources.states, scope, state);
        }
    }
}

/// The precondition that the last event of a subject is still the one that was read.
fn is_unchanged(subject: Subject, latest: Option<EventId>) -> Precondition {
    match latest {
        Some(latest) => Precondition::SubjectIsOnEventId(subject, latest),
        None => Precondition::SubjectIsPristine(subject),
    }
}
