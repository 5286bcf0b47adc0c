//! The inputs of a decision: which events are read for it, the states that follow from them, and
//! the preconditions that must still hold when the decision is appended.

use futures_util::future::try_join_all;

use super::{
    CommandContext, CommandError, CommandResources, ExpectedVersion, Handle, SubjectCondition,
    UntypedDecision,
    handler::PreparedDecision,
    input_slot::{InputOrigins, StateInput},
    lock::LockedSubjects,
};
use es_event::{EventId, Subject};
use es_store::{EventLog, Precondition, latest_event, newest_id};

/// The inputs of a decision on a `C`. The states are rebuilt for each attempt to decide.
pub(super) struct DecisionInputs<C: Handle> {
    /// The command's own subject.
    pub(super) subject: Subject,
    /// The other subjects that must have an event. They are neither read nor locked: the append checks them.
    required: Vec<Subject>,
    prepared: Box<dyn PreparedDecision<C>>,
}

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

impl<C: Handle> DecisionInputs<C> {
    /// Resolves the subjects of a command, before anything is read.
    pub(super) fn from_command(
        command: &C,
        resources: &CommandResources,
        context: &CommandContext,
    ) -> Result<Self, CommandError> {
        let subject = command.subject()?;
        let owner = C::OWNER;
        let origins = InputOrigins {
            resources,
            context,
            owner,
        };
        let prepared = C::FUNCTION.prepare(command, origins)?;
        Ok(Self {
            subject,
            required: command.required_subjects()?,
            prepared,
        })
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
        if C::CONDITION == SubjectCondition::Pristine
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
    pub(super) fn decide(
        &self,
        command: C,
        decision: &mut UntypedDecision,
    ) -> Result<(), CommandError> {
        self.prepared.decide(command, decision)
    }

    /// Caches the rebuilt states for the next commands on their subjects.
    pub(super) fn cache_states(&mut self, resources: &CommandResources) {
        for state in self.prepared.states() {
            state.store_in_cache(resources);
        }
    }

    fn parts<'a>(
        &'a mut self,
        context: &'a CommandContext,
    ) -> (SubjectRequirements<'a>, Vec<&'a mut dyn StateInput>) {
        let own = SubjectRequirements {
            subject: &self.subject,
            condition: C::CONDITION,
            expected: context.expected.as_ref(),
        };
        (own, self.prepared.states())
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
