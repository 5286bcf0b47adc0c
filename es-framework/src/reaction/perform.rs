//! What one reaction does about one event: commands through the bus, or a call.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::FutureExt as _;
use jiff::Timestamp;
use tracing::{Instrument as _, Span};
use uuid::Uuid;

use super::{
    Action, Commands, Occasion, Pending, ReactionDescriptor, ReactionError, ReactionKey, Sent,
    Statuses, Step, When, checkpoint::Task,
};
use crate::{
    command::{Bus, CommandContext, CommandError, CommandRequest, IdempotencyKey, Services},
    event::{EventId, EventType, EventView, RecordedEvent, Upcasters},
    store::EventStore,
    telemetry::traces,
};

/// How long a call may take.
const CALL_LIMIT: Duration = Duration::from_secs(60);

/// What all reactions of an application stand on.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) bus: Bus,
    pub(crate) store: Arc<dyn EventStore>,
    pub(crate) source: Arc<str>,
    pub(crate) services: Services,
    pub(crate) upcasters: Upcasters,
    /// Which one this is of several that run at once.
    pub(crate) instance: Uuid,
    /// Where a test sees what is sent.
    pub(crate) witness: Option<Arc<Mutex<Vec<Sent>>>>,
}

/// Carries out what one reaction leads to.
#[derive(Debug, Clone)]
pub(super) struct Performer {
    pub(super) reaction: ReactionDescriptor,
    pub(super) ground: Arc<Ground>,
    pub(super) statuses: Statuses,
}

/// Something that follows from an event: which step, and which of the events that an upcaster made
/// of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Consequence {
    pub(super) step: usize,
    pub(super) view: usize,
}

/// What an event means for a reaction.
#[derive(Debug, Default)]
pub(super) struct Meaning {
    /// The steps whose deadlines it cancels.
    pub(super) cancelled: Vec<usize>,
    pub(super) deadlines: Vec<(Timestamp, Consequence)>,
    pub(super) at_once: Vec<Consequence>,
}

enum Work {
    Send(Vec<Sent>),
    Call(Pending),
}

impl Performer {
    /// The types of stored events that it follows, those included that are upcast to one of them.
    pub(super) fn followed(&self) -> Vec<EventType> {
        let steps = self.reaction.steps.iter();
        let mut types: Vec<&'static str> = steps
            .flat_map(|step| {
                let unless = match step.when {
                    When::AtOnce => &[],
                    When::Deadline(deadline) => deadline.unless,
                };
                [step.event].into_iter().chain(unless.iter().copied())
            })
            .collect();
        let mut next = 0;
        while let Some(wanted) = types.get(next).copied() {
            let upcasters = self.ground.upcasters.iter();
            let sources = upcasters.filter(|one| one.to.contains(&wanted));
            let sources: Vec<_> = sources.map(|one| one.from).collect();
            types.extend(
                sources
                    .into_iter()
                    .filter(|from| !types.contains(from))
                    .collect::<Vec<_>>(),
            );
            next = next.saturating_add(1);
        }
        types.sort_unstable();
        types.dedup();
        types.into_iter().map(EventType::declared).collect()
    }

    /// Whether what follows is a call, which nothing but a checkpoint keeps from being made again.
    pub(super) fn is_call(&self, consequence: Consequence) -> bool {
        let step = self.reaction.steps.get(consequence.step);
        step.is_some_and(|step| matches!(step.action, Action::Call(_)))
    }

    /// What an event means.
    pub(super) fn meaning(&self, event: &RecordedEvent) -> Result<Meaning, ReactionError> {
        let mut meaning = Meaning::default();
        let mut view_number = 0;
        self.ground.upcasters.read(event, |view| {
            for (index, step) in self.reaction.steps.iter().enumerate() {
                meaning.add(index, step, view_number, &view)?;
            }
            view_number = view_number.saturating_add(1);
            Ok::<_, ReactionError>(())
        })?;
        Ok(meaning)
    }

    /// What a consequence is to every instance.
    pub(super) fn task(
        &self,
        event: EventId,
        Consequence { step, view }: Consequence,
        at: Option<Timestamp>,
    ) -> Task {
        let step = self.reaction.steps.get(step).map_or("", |step| step.name);
        Task {
            event,
            step: step.into(),
            view,
            at,
        }
    }

    /// Goes on with the trace of what led to the event.
    fn span(&self, event: &RecordedEvent) -> Span {
        let span = tracing::info_span!(
            "react",
            otel.name = tracing::field::Empty,
            otel.kind = "consumer",
            event.id = %event.id,
            event.type = %event.event_type,
            subject = %event.subject,
        );
        if !span.is_disabled() {
            span.record("otel.name", format!("react {}", self.reaction.name));
            if let Some(trace) = &event.trace {
                traces::continue_trace(&span, trace);
            }
        }
        span
    }

    /// Does what follows, or fails to.
    pub(super) async fn attempt(
        &self,
        event: &RecordedEvent,
        consequence: Consequence,
    ) -> Result<(), ReactionError> {
        let span = self.span(event);
        self.carry_out(event, consequence).instrument(span).await
    }

    async fn carry_out(
        &self,
        event: &RecordedEvent,
        consequence: Consequence,
    ) -> Result<(), ReactionError> {
        match self.work(event, consequence)? {
            None => Ok(()),
            Some(Work::Send(commands)) => {
                for (number, sent) in commands.into_iter().enumerate() {
                    self.send(event, consequence, number, sent).await?;
                }
                Ok(())
            }
            Some(Work::Call(pending)) => {
                let call = AssertUnwindSafe(pending).catch_unwind();
                match tokio::time::timeout(CALL_LIMIT, call).await {
                    Ok(Ok(done)) => done,
                    Ok(Err(panic)) => Err(panicked(&*panic)),
                    Err(_) => {
                        let seconds = CALL_LIMIT.as_secs();
                        Err(ReactionError::Call(format!("no answer within {seconds} s")))
                    }
                }
            }
        }
    }

    /// Asks the step what is to be done.
    fn work(
        &self,
        event: &RecordedEvent,
        Consequence { step, view }: Consequence,
    ) -> Result<Option<Work>, ReactionError> {
        let Some(step) = self.reaction.steps.get(step) else {
            return Ok(None);
        };
        let (mut work, mut number) = (None, 0);
        self.ground.upcasters.read(event, |seen| {
            if number == view {
                work = Some(guarded(|| self.ask(step, &seen, view))??);
            }
            number = number.saturating_add(1);
            Ok::<_, ReactionError>(())
        })?;
        Ok(work)
    }

    fn ask(&self, step: &Step, event: &EventView<'_>, view: usize) -> Result<Work, ReactionError> {
        match step.action {
            Action::Send(send) => {
                let mut commands = Commands::default();
                send(event, &mut commands)?;
                Ok(Work::Send(commands.0))
            }
            Action::Call(call) => {
                let recorded = event.recorded();
                let occasion = Occasion {
                    services: &self.ground.services,
                    key: ReactionKey::of(self.reaction.name, step.name, view, recorded),
                };
                Ok(Work::Call(call(event, &occasion)?))
            }
        }
    }

    /// Sends a command. Sent again, by this instance or another, it is not carried out again.
    async fn send(
        &self,
        event: &RecordedEvent,
        Consequence { step, view }: Consequence,
        number: usize,
        sent: Sent,
    ) -> Result<(), ReactionError> {
        let step = self.reaction.steps.get(step).map_or("", |step| step.name);
        let name = self.reaction.name;
        let key = format!("{name}.{step} {} {view} {number}", event.id);
        let context = CommandContext {
            metadata: event.metadata(),
            trace: event.trace.clone(),
            expected: None,
            idempotency_key: Some(IdempotencyKey::of_reaction(&key)),
        };
        let request = CommandRequest {
            body: &sent.body,
            path_parameters: &[],
            context: &context,
        };
        if let Some(witness) = &self.ground.witness {
            let mut witness = witness.lock().unwrap_or_else(PoisonError::into_inner);
            witness.push(sent.clone());
        }
        let command = sent.command.name;
        match (sent.command.execute)(&self.ground.bus, request).await {
            Ok(_) => Ok(()),
            Err(error) if is_answer(&error) => {
                tracing::info!(reaction = name, event = %event.id, subject = %event.subject, command, %error, "a command that a reaction sent is refused");
                Ok(())
            }
            Err(error) => Err(ReactionError::Command { command, error }),
        }
    }
}

/// Whether a command was refused for what is the case, which is an answer like any other. That of a
/// key that was used says that another release of the reaction sent its command already.
const fn is_answer(error: &CommandError) -> bool {
    matches!(
        error,
        CommandError::Rejected(_)
            | CommandError::NotFound(_)
            | CommandError::AlreadyExists(_)
            | CommandError::KeyReused
    )
}

impl Meaning {
    fn add(
        &mut self,
        index: usize,
        step: &Step,
        view_number: usize,
        view: &EventView<'_>,
    ) -> Result<(), ReactionError> {
        if let When::Deadline(deadline) = step.when
            && deadline.unless.contains(&view.event_type())
        {
            self.cancelled.push(index);
        }
        if step.event != view.event_type() {
            return Ok(());
        }
        let consequence = Consequence {
            step: index,
            view: view_number,
        };
        match step.when {
            When::AtOnce => self.at_once.push(consequence),
            When::Deadline(deadline) => {
                if let Some(at) = guarded(|| (deadline.at)(view))?? {
                    self.deadlines.push((at, consequence));
                }
            }
        }
        Ok(())
    }
}

/// Calls the application's code: what it does wrong is its reaction's trouble alone.
fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, ReactionError> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| panicked(&*panic))
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> ReactionError {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    ReactionError::Panicked(text.unwrap_or_else(|| "without a message".to_owned()))
}
