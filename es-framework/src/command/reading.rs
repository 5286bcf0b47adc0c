//! What is read before a decision, and what must therefore still hold at the write.

use futures_util::future::try_join_all;
use tracing::Instrument as _;

use super::{
    Bus, CommandContext, CommandError, Condition, Given, Handle, Origin, Parameter,
    handler::Argument,
};
use crate::{
    event::{EventId, InvalidSubjectPart, Subject},
    state::{HeldState, Memory, RebuildError, Source, StateKind},
    store::{Precondition, latest_event, newest_id},
};

/// What a command is about and what its handler wants to know, before anything is read.
#[derive(Debug)]
pub(super) struct Question {
    /// The command's own subject.
    pub(super) subject: Subject,
    condition: Condition,
    parameters: Vec<(&'static Parameter, Option<Source>)>,
}

/// What was read.
#[derive(Debug)]
pub(super) struct Found {
    /// The last event of the command's own subject, if that was asked for.
    pub(super) latest: Option<EventId>,
    /// What must still hold when the events are written.
    pub(super) preconditions: Vec<Precondition>,
    /// What the handler is given.
    pub(super) given: Given,
}

impl Question {
    pub(super) fn of<C: Handle>(command: &C) -> Result<Self, InvalidSubjectPart> {
        let source = |(index, parameter): (usize, &'static Parameter)| {
            let source = match parameter.origin {
                Origin::State(_) => Some(Source {
                    subject: command.parameter_subject(index)?,
                    recursive: parameter.recursive,
                }),
                Origin::Service(_) | Origin::Metadata => None,
            };
            Ok((parameter, source))
        };
        Ok(Self {
            subject: command.subject()?,
            condition: C::CONDITION,
            parameters: C::PARAMETERS
                .iter()
                .enumerate()
                .map(source)
                .collect::<Result<_, InvalidSubjectPart>>()?,
        })
    }

    /// The subjects that are decided on. A command that reads nothing leaves them to the store.
    pub(super) fn subjects(&self, context: &CommandContext) -> Vec<&Subject> {
        let sources = self
            .parameters
            .iter()
            .filter_map(|(_, source)| source.as_ref());
        let mut subjects: Vec<_> = sources.map(|source| &source.subject).collect();
        if self.condition == Condition::Exists || context.expected.is_some() {
            subjects.push(&self.subject);
        }
        subjects
    }
}

impl Bus {
    /// Reads everything that the handler wants to know and that is asked of the subject.
    pub(super) async fn read(
        &self,
        question: &Question,
        context: &CommandContext,
        memory: Memory,
    ) -> Result<Found, CommandError> {
        let arguments = question
            .parameters
            .iter()
            .map(|(parameter, source)| self.argument(parameter, source.as_ref(), memory));
        let arguments = try_join_all(arguments).await?;
        let mut found = Found {
            latest: None,
            preconditions: Vec::new(),
            given: Given::on(question.subject.clone(), context.metadata.clone()),
        };
        let mut own_is_known = false;
        let mut values = Vec::with_capacity(arguments.len());
        for ((_, source), (value, precondition)) in question.parameters.iter().zip(arguments) {
            if let (Some(source), Argument::State(held)) = (source, &value)
                && source.subject == question.subject
                && !source.recursive
            {
                own_is_known = true;
                found.latest = held.latest.map(|latest| latest.id);
            }
            found.require(precondition);
            values.push(value);
        }
        if !own_is_known && (question.condition == Condition::Exists || context.expected.is_some())
        {
            let latest = latest_event(&*self.store, question.subject.clone(), false).await?;
            found.latest = latest.map(|event| event.id);
        }
        question.check(&mut found, context)?;
        found.check_required(question, &values)?;
        found.given = found.given.with(values);
        Ok(found)
    }

    async fn argument(
        &self,
        parameter: &Parameter,
        source: Option<&Source>,
        memory: Memory,
    ) -> Result<(Argument, Option<Precondition>), CommandError> {
        match (parameter.origin, source) {
            (Origin::State(kind), Some(source)) => self.state(kind, source, memory).await,
            (Origin::Service(kind), _) => match self.services.get(kind) {
                Some(service) => Ok((Argument::Service(service), None)),
                None => Err(CommandError::NotProvided(kind.name)),
            },
            (Origin::Metadata | Origin::State(_), _) => Ok((Argument::Metadata, None)),
        }
    }

    async fn state(
        &self,
        kind: StateKind,
        source: &Source,
        memory: Memory,
    ) -> Result<(Argument, Option<Precondition>), CommandError> {
        let subject = source.subject.clone();
        let (held, precondition) = if source.recursive {
            // Taken before the events are read: none that comes between goes unnoticed.
            let newest = newest_id(&*self.store).await?;
            let held = self.rebuild(kind, source, memory).await?;
            let newest = newest.max(held.latest.map(|latest| latest.id));
            (held, Precondition::SubtreeIsUnchangedSince(subject, newest))
        } else {
            let held = self.rebuild(kind, source, memory).await?;
            let precondition = is_still_on(subject, held.latest.map(|latest| latest.id));
            (held, precondition)
        };
        Ok((Argument::State(held), Some(precondition)))
    }

    async fn rebuild(
        &self,
        kind: StateKind,
        source: &Source,
        memory: Memory,
    ) -> Result<HeldState, CommandError> {
        let span = tracing::info_span!(
            "rebuild",
            state = kind.name,
            subject = %source.subject,
            events = tracing::field::Empty
        );
        let held = kind.rebuild(&self.states, source, memory);
        let held = held.instrument(span).await;
        held.map_err(|error| match error {
            RebuildError::Store(error) => error.into(),
            RebuildError::Decode(error) => CommandError::Decode(error),
        })
    }

    /// Remembers the states that were read for the next commands on their subjects.
    pub(super) fn keep(&self, question: &Question, given: Given) {
        for ((parameter, source), value) in question.parameters.iter().zip(given.into_arguments()) {
            if let (Origin::State(kind), Some(source), Argument::State(held)) =
                (parameter.origin, source, value)
            {
                kind.keep(&self.states, source, held);
            }
        }
    }
}

impl Question {
    /// Checks what the command and its sender ask of the subject.
    fn check(&self, found: &mut Found, context: &CommandContext) -> Result<(), CommandError> {
        let subject = || self.subject.clone();
        if let Some(expected) = &context.expected {
            if !expected.holds(found.latest) {
                let latest = found.latest;
                let subject = subject();
                return Err(CommandError::NotAsExpected { subject, latest });
            }
            found.require(Some(is_still_on(subject(), found.latest)));
        }
        match self.condition {
            Condition::None => {}
            Condition::Pristine => {
                found.require(Some(Precondition::SubjectIsPristine(subject())));
            }
            Condition::Exists if found.latest.is_none() => {
                return Err(CommandError::NotFound(subject()));
            }
            Condition::Exists => found.require(Some(is_still_on(subject(), found.latest))),
        }
        Ok(())
    }
}

impl Found {
    fn require(&mut self, precondition: Option<Precondition>) {
        if let Some(precondition) = precondition
            && !self.preconditions.contains(&precondition)
        {
            self.preconditions.push(precondition);
        }
    }

    /// A state that the handler cannot do without is there.
    fn check_required(&self, question: &Question, values: &[Argument]) -> Result<(), CommandError> {
        for ((parameter, source), value) in question.parameters.iter().zip(values) {
            if let (Some(source), Argument::State(held)) = (source, value)
                && !held.exists
                && !parameter.optional
            {
                return Err(CommandError::NotFound(source.subject.clone()));
            }
        }
        Ok(())
    }
}

fn is_still_on(subject: Subject, latest: Option<EventId>) -> Precondition {
    match latest {
        Some(latest) => Precondition::SubjectIsOnEventId(subject, latest),
        None => Precondition::SubjectIsPristine(subject),
    }
}
