//! A command without its Rust type: the subjects that it is about, the states that are rebuilt for it, the decision of
//! its handler, and the preconditions that must still hold when the decision is appended.

use futures_util::future::try_join_all;

use super::{
    CommandContext, CommandError, CommandRequest, CommandResources, ExpectedVersion, Handle,
    SubjectCondition, UntypedDecision,
    handler::PreparedDecision,
    input_slot::{InputOrigins, StateInput},
    lock::LockedSubjects,
    parse::{parse_command, validate_command},
};
use es_event::{EventId, Subject};
use es_store::{EventLog, Precondition, latest_event, newest_id};

/// A parsed and valid command. Its states are rebuilt for each attempt to decide.
pub(super) struct PreparedCommand {
    /// The name of its type.
    pub(super) name: &'static str,
    pub(super) condition: SubjectCondition,
    /// The command's own subject.
    pub(super) subject: Subject,
    /// The other subjects that must have an event. They are neither read nor locked: the append checks them.
    required: Vec<Subject>,
    decision: Box<dyn PreparedDecision>,
}

/// Prepares the command of a request, before anything is read. It is the last function that knows the command's type.
pub(super) type PrepareFunction =
    fn(&CommandResources, &CommandRequest<'_>) -> Result<PreparedCommand, CommandError>;

/// The events that a decision relies on.
#[derive(Debug)]
pub(super) struct ReadEvents {
    /// The last event of the command's own subject, if it was read.
    pub(super) latest: Option<EventId>,
    /// The preconditions of the append, derived from what was read.
    pub(super) preconditions: Vec<Precondition>,
}

/// The requirements of a command on its own subject.
#[derive(Debug, Clone, Copy)]
struct SubjectRequirements<'a> {
    subject: &'a Subject,
    condition: SubjectCondition,
    expected: Option<&'a ExpectedVersion>,
}

impl PreparedCommand {
    /// Parses and prepares the command of a request.
    pub(super) fn from_request<C: Handle>(
        resources: &CommandResources,
        request: &CommandRequest<'_>,
    ) -> Result<Self, CommandError> {
        let command: C = parse_command(request)?;
        Self::new(command, request.body, resources, request.context)
    }

    /// Checks the owner and the values of a command, and resolves its subjects. `body` is the request from which it
    /// was parsed, or nothing.
    pub(super) fn new<C: Handle>(
        command: C,
        body: &[u8],
        resources: &CommandResources,
        context: &CommandContext,
    ) -> Result<Self, CommandError> {
        let owner = C::OWNER;
        command.check_owner(&context.caller.under_rule(owner))?;
        validate_command(&command, body)?;
        let origins = InputOrigins {
            resources,
            context,
            owner,
        };
        Ok(Self {
            name: C::NAME,
            condition: C::CONDITION,
            subject: command.subject()?,
            required: command.required_subjects()?,
            decision: C::FUNCTION.prepare(command, origins)?,
        })
    }

    /// Returns the command's own subject and those of its states.
    pub(super) fn subjects(&mut self) -> Vec<Subject> {
        let own = self.subject.clone();
        let states = self.decision.states();
        let read = states.iter().map(|state| state.scope().subject.clone());
        read.chain([own]).collect()
    }

    /// Waits until no other command of this process decides on the subjects that are read. A command that reads
    /// nothing relies on the store's preconditions alone.
    pub(super) async fn lock_subjects(
        &mut self,
        resources: &CommandResources,
        context: &CommandContext,
    ) -> Result<LockedSubjects, CommandError> {
        let (own, states) = self.parts(context);
        let own = own.needs_latest_event().then_some(own.subject);
        let states = states.iter().map(|state| &state.scope().subject);
        let guard = resources.locks.lock_subjects(states.chain(own)).await;
        guard.map_err(|_| CommandError::Contended(self.subject.clone()))
    }

    /// Reads events, rebuilds the states, and checks that a subject that has to exist does.
    pub(super) async fn read(
        &mut self,
        resources: &CommandResources,
        context: &CommandContext,
    ) -> Result<ReadEvents, CommandError> {
        let (own, mut states) = self.parts(context);
        try_join_all(states.iter_mut().map(|state| state.rebuild(resources))).await?;
        let mut read = own.check(&*resources.store, &states).await?;
        let required = self.required.iter().cloned();
        let required = required.map(Precondition::SubjectIsPopulated);
        read.preconditions.extend(required);
        Ok(read)
    }

    /// Checks that the command's own subject has no event if it has to be pristine, and that the required subjects have
    /// one. Where a command appends, the append checks this, and this function only explains the conflict.
    pub(super) async fn check_conditions(&self, store: &dyn EventLog) -> Result<(), CommandError> {
        if self.condition == SubjectCondition::Pristine
            && latest_event(store, self.subject.clone(), false)
                .await?
                .is_some()
        {
            return Err(CommandError::AlreadyExists(self.subject.clone()));
        }
        for subject in &self.required {
            if latest_event(store, subject.clone(), false).await?.is_none() {
                return Err(CommandError::NotFound(subject.clone()));
            }
        }
        Ok(())
    }

    /// Checks `If-Match`, if the request has it. `latest` is the last event of the command's own subject.
    pub(super) async fn check_expected_version(
        &self,
        store: &dyn EventLog,
        context: &CommandContext,
        latest: Option<EventId>,
    ) -> Result<(), CommandError> {
        let Some(expected) = &context.expected else {
            return Ok(());
        };
        let newest = if expected.has_position() {
            newest_id(store).await?
        } else {
            latest
        };
        if expected.is_met_by(latest, newest) {
            Ok(())
        } else {
            let subject = self.subject.clone();
            Err(CommandError::NotAsExpected { subject, latest })
        }
    }

    /// Calls the handler, which adds its events and its reply to a decision. A state without `Option` must exist.
    pub(super) fn decide(&self, decision: &mut UntypedDecision) -> Result<(), CommandError> {
        self.decision.decide(decision)
    }

    /// Caches the rebuilt states for the next commands on their subjects.
    pub(super) fn cache_states(&mut self, resources: &CommandResources) {
        for state in self.decision.states() {
            state.store_in_cache(resources);
        }
    }

    fn parts<'a>(
        &'a mut self,
        context: &'a CommandContext,
    ) -> (SubjectRequirements<'a>, Vec<&'a mut dyn StateInput>) {
        let own = SubjectRequirements {
            subject: &self.subject,
            condition: self.condition,
            expected: context.expected.as_ref(),
        };
        (own, self.decision.states())
    }
}

impl SubjectRequirements<'_> {
    fn needs_latest_event(&self) -> bool {
        self.condition == SubjectCondition::Exists || self.expected.is_some()
    }

    /// Checks that a subject that has to exist does, and derives the preconditions of the append.
    async fn check(
        self,
        store: &dyn EventLog,
        states: &[&mut dyn StateInput],
    ) -> Result<ReadEvents, CommandError> {
        let Self {
            subject,
            condition,
            expected,
        } = self;
        let is_own = |state: &&&mut dyn StateInput| {
            let scope = state.scope();
            scope.subject == *subject && !scope.recursive
        };
        let latest = match states.iter().find(is_own) {
            Some(state) => state.last_event(),
            None if self.needs_latest_event() => {
                let latest = latest_event(store, subject.clone(), false).await?;
                latest.map(|event| event.id)
            }
            None => None,
        };
        if condition == SubjectCondition::Exists && latest.is_none() {
            return Err(CommandError::NotFound(subject.clone()));
        }
        let expected =
            expected.map(|_| Precondition::subject_is_unchanged(subject.clone(), latest));
        let own = match condition {
            SubjectCondition::Pristine => Some(Precondition::SubjectIsPristine(subject.clone())),
            SubjectCondition::Exists => {
                Some(Precondition::subject_is_unchanged(subject.clone(), latest))
            }
            SubjectCondition::None => None,
        };
        let read = states.iter().map(|state| scope_is_unchanged(&**state));
        let mut preconditions = Vec::new();
        for precondition in read.chain(expected).chain(own) {
            if !preconditions.contains(&precondition) {
                preconditions.push(precondition);
            }
        }
        Ok(ReadEvents {
            latest,
            preconditions,
        })
    }
}

/// The precondition that the scope of a state has no newer event than those that were read.
fn scope_is_unchanged(state: &dyn StateInput) -> Precondition {
    let (scope, latest) = (state.scope(), state.last_event());
    let subject = scope.subject.clone();
    match (scope.recursive, latest) {
        (false, _) => Precondition::subject_is_unchanged(subject, latest),
        (true, Some(latest)) => Precondition::SubtreeIsOnEventId(subject, latest),
        (true, None) => Precondition::SubtreeIsPristine(subject),
    }
}
