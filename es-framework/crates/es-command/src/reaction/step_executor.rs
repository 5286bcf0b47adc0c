//! Executes the steps of one reaction: each sends commands or makes a call.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::FutureExt as _;
use jiff::Timestamp;
use tracing::{Instrument as _, Span};

use super::{
    OutgoingCommand, OutgoingCommands, PendingCall, PendingCommands, ReactionAction,
    ReactionContext, ReactionDescriptor, ReactionError, ReactionKey, ReactionStep, ReactionTiming,
    publication::PendingEvents,
    schedule_times::{StepSchedules, parse_schedules},
};
use crate::command::{
    CommandContext, CommandError, CommandRequest, CommandResources, IdempotencyKey, PastEnd,
    Services,
};
use es_event::{Caller, EventType, EventView, RecordedEvent, Upcasters};
use es_observe::telemetry::traces;
use es_store::EventLog;
use es_subscribe::{
    SkippedEvents, SubscriberProgress, catch_panic, panic_text,
    state::{StateDatabase, TaskKey},
};

/// The resources that all reactions of an application share.
#[doc(hidden)]
#[derive(Debug)]
pub struct ReactionRuntime {
    /// The event store, the states and the services with which the commands of the reactions are executed.
    pub command_resources: CommandResources,
    /// The resources of publications, whose states contain no personal value. Without them, nothing is personal.
    pub redacted_resources: Option<CommandResources>,
    /// The event store.
    pub store: Arc<dyn EventLog>,
    /// The source of the events that the reactions record on their own.
    pub source: Arc<str>,
    /// The services that reactions take.
    pub services: Services,
    /// The upcasters of stored events.
    pub upcasters: Upcasters,
    /// The database of the tasks.
    pub state: StateDatabase,
    /// Collects the sent commands in a test.
    pub sent_commands: Option<Arc<Mutex<Vec<OutgoingCommand>>>>,
}

/// Executes the steps of one reaction.
#[derive(Debug, Clone)]
pub(super) struct StepExecutor {
    pub(super) reaction: ReactionDescriptor,
    pub(super) runtime: Arc<ReactionRuntime>,
    pub(super) progress: SubscriberProgress,
    pub(super) skipped: Arc<SkippedEvents>,
    pub(super) schedules: StepSchedules,
    /// The types of stored events that the reaction handles, including old types that upcasters turn into them.
    pub(super) event_types: Arc<[EventType]>,
}

/// A step for one view of an event: the index of the step, and the index of the view among those that
/// upcasters made of the stored event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StepOfEventView {
    pub(super) step: usize,
    pub(super) view: usize,
}

/// The steps that follow from an event.
#[derive(Debug, Default)]
pub(super) struct StepsAfterEvent {
    /// The steps whose deadlines the event cancels.
    pub(super) cancelled_steps: Vec<usize>,
    /// The steps to execute at a deadline.
    pub(super) deadlines: Vec<(Timestamp, StepOfEventView)>,
    /// The steps to execute now.
    pub(super) immediate: Vec<StepOfEventView>,
}

/// The action of a step, ready to execute.
enum ExecutableAction {
    Publish(PendingEvents),
    Send(Vec<OutgoingCommand>),
    Decide(PendingCommands),
    Call(PendingCall),
}

impl StepExecutor {
    pub(super) fn new(
        reaction: ReactionDescriptor,
        runtime: Arc<ReactionRuntime>,
        progress: SubscriberProgress,
    ) -> Result<Self, ReactionError> {
        let steps = reaction.steps.iter();
        let types = steps.flat_map(|step| {
            let (event, unless) = match step.when {
                ReactionTiming::Immediate => (Some(step.event), &[] as &[_]),
                ReactionTiming::Deadline(deadline) => (Some(step.event), deadline.unless),
                ReactionTiming::Schedule(_) => (None, &[] as &[_]),
            };
            event.into_iter().chain(unless.iter().copied())
        });
        Ok(Self {
            event_types: runtime.upcasters.with_stored_types(types).into(),
            schedules: parse_schedules(&reaction)?,
            reaction,
            runtime,
            progress,
            skipped: Arc::default(),
        })
    }

    /// Returns whether a step makes a call. Nothing prevents a second call but its task, while a second command has no
    /// effect, and the receiver of a sink knows the ids.
    pub(super) fn makes_call(&self, step: &str) -> bool {
        let mut steps = self.reaction.steps.iter();
        let step = steps.find(|declared| declared.name == step);
        step.is_some_and(|step| matches!(step.action, ReactionAction::Call(_)))
    }

    /// Returns the step of a task, unless the reaction no longer has it.
    fn find_step(&self, key: &TaskKey) -> Result<StepOfEventView, ReactionError> {
        let mut steps = self.reaction.steps.iter();
        let step = steps.position(|step| step.name == key.step);
        let step = step.ok_or_else(|| ReactionError::UnknownStep(key.step.clone().into_owned()))?;
        let view = usize::try_from(key.view).unwrap_or(usize::MAX);
        Ok(StepOfEventView { step, view })
    }

    /// Decides which steps follow from an event. A panic of the application's code becomes an error.
    pub(super) fn plan_steps(
        &self,
        event: &RecordedEvent,
    ) -> Result<StepsAfterEvent, ReactionError> {
        let mut plan = StepsAfterEvent::default();
        let mut view_number = 0;
        let planned = catch_panic(|| {
            self.runtime.upcasters.read(event, |view| {
                for (index, step) in self.reaction.steps.iter().enumerate() {
                    plan.add(index, step, view_number, &view)?;
                }
                view_number = view_number.saturating_add(1);
                Ok::<_, ReactionError>(())
            })
        });
        planned.map_err(ReactionError::Panicked)??;
        Ok(plan)
    }

    pub(super) fn step_name(&self, step: usize) -> &'static str {
        self.reaction.steps.get(step).map_or("", |step| step.name)
    }

    /// Creates a span that continues the trace of the event.
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

    /// Executes a task once. A panic of the application's code becomes an error: of the step's function, of an upcaster, of
    /// the fold of a state, or of the handler of a command.
    pub(super) async fn execute_task(
        &self,
        event: &RecordedEvent,
        key: &TaskKey,
    ) -> Result<(), ReactionError> {
        let span = self.span(event);
        let execution = self.execute_in_span(event, self.find_step(key)?, key.due);
        let execution = AssertUnwindSafe(execution.instrument(span)).catch_unwind();
        let panicked = |panic: Box<_>| ReactionError::Panicked(panic_text(&*panic));
        execution.await.map_err(panicked)?
    }

    async fn execute_in_span(
        &self,
        event: &RecordedEvent,
        instance: StepOfEventView,
        at: Option<Timestamp>,
    ) -> Result<(), ReactionError> {
        let commands = match self.decide_action(event, instance, at)? {
            None => return Ok(()),
            Some(ExecutableAction::Send(commands)) => commands,
            Some(ExecutableAction::Decide(pending)) => pending.await?.0,
            Some(ExecutableAction::Call(pending)) => return pending.await,
            Some(ExecutableAction::Publish(pending)) => {
                let outgoing = pending.await?;
                return self.deliver(event, instance, &outgoing).await;
            }
        };
        for (number, sent) in commands.into_iter().enumerate() {
            let key = self.key_of_command(event, instance, at, number);
            self.send(event, &key, sent).await?;
        }
        Ok(())
    }

    /// Calls the application's function for the step.
    fn decide_action(
        &self,
        event: &RecordedEvent,
        StepOfEventView { step, view }: StepOfEventView,
        at: Option<Timestamp>,
    ) -> Result<Option<ExecutableAction>, ReactionError> {
        let scheduled = at.filter(|_| self.schedules.contains_key(&step));
        let Some(step) = self.reaction.steps.get(step) else {
            return Ok(None);
        };
        let name = (self.reaction.name, step.name);
        let redacted = self.runtime.redacted_resources.as_ref();
        let redacted = redacted.filter(|_| self.reaction.sink.is_some());
        let context = ReactionContext {
            services: &self.runtime.services,
            key: ReactionKey::for_call(name, view, event, scheduled),
            resources: redacted.unwrap_or(&self.runtime.command_resources),
            states_end: scheduled.map_or(PastEnd::Event(Some(event.id)), PastEnd::Time),
            time: at.or(event.time.timestamp().ok()).unwrap_or_default(),
        };
        let (mut action, mut number) = (None, 0);
        self.runtime.upcasters.read(event, |seen| {
            if number == view {
                action = Some(call_step(step, &seen, &context)?);
            }
            number = number.saturating_add(1);
            Ok::<_, ReactionError>(())
        })?;
        Ok(action)
    }

    /// Returns true if the function of an immediate step, which depends on the event alone, returns no command. If it fails,
    /// the task of the step finds that out.
    pub(super) fn sends_nothing(&self, event: &RecordedEvent, instance: StepOfEventView) -> bool {
        let Some(step) = self.reaction.steps.get(instance.step) else {
            return false;
        };
        let depends_on_event = match step.action {
            ReactionAction::Send(_) => true,
            ReactionAction::Publish(_) => step.parameters.is_empty(),
            ReactionAction::Decide(_) | ReactionAction::Call(_) => false,
        };
        if !depends_on_event {
            return false;
        }
        let decided = catch_panic(|| match self.decide_action(event, instance, None) {
            Ok(Some(ExecutableAction::Send(commands))) => commands.is_empty(),
            Ok(Some(ExecutableAction::Publish(pending))) => {
                let outgoing = pending.now_or_never();
                outgoing.is_some_and(|outgoing| outgoing.is_ok_and(|one| !self.delivers_some(&one)))
            }
            _ => false,
        });
        decided.unwrap_or(false)
    }

    /// Returns the idempotency key of a command. The times of a schedule share an event.
    fn key_of_command(
        &self,
        event: &RecordedEvent,
        StepOfEventView { step, view }: StepOfEventView,
        at: Option<Timestamp>,
        number: usize,
    ) -> String {
        let (name, function) = (self.reaction.name, self.step_name(step));
        match at.filter(|_| self.schedules.contains_key(&step)) {
            Some(at) => format!("{name}.{function} {at} {number}"),
            None => format!("{name}.{function} {} {view} {number}", event.id),
        }
    }

    /// Sends a command. Its idempotency key makes repetitions harmless, in this process or another.
    async fn send(
        &self,
        event: &RecordedEvent,
        key: &str,
        sent: OutgoingCommand,
    ) -> Result<(), ReactionError> {
        let name = self.reaction.name;
        let context = CommandContext {
            caller: Caller::System,
            // The command follows today from what happened then.
            metadata: event.metadata().without_occurred_at(),
            trace: event.trace.clone(),
            expected: None,
            idempotency_key: Some(IdempotencyKey::for_reaction(key)),
        };
        let request = CommandRequest {
            body: &sent.body,
            path_parameters: &[],
            context: &context,
        };
        if let Some(log) = &self.runtime.sent_commands {
            let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
            log.push(sent.clone());
        }
        let command = sent.command.name;
        match sent
            .command
            .execute(&self.runtime.command_resources, request)
            .await
        {
            Ok(_) => Ok(()),
            Err(error) if is_final_refusal(&error) => {
                let error = event.hide_values(error.to_string());
                tracing::info!(reaction = name, event = %event.id, subject = %event.subject, command, error, "a command of a reaction is rejected");
                Ok(())
            }
            Err(error) => Err(ReactionError::Command { command, error }),
        }
    }
}

/// Calls the application's function.
fn call_step(
    step: &ReactionStep,
    event: &EventView<'_>,
    context: &ReactionContext<'_>,
) -> Result<ExecutableAction, ReactionError> {
    match step.action {
        ReactionAction::Send(send) => {
            let mut commands = OutgoingCommands::default();
            send(event, context, &mut commands)?;
            Ok(ExecutableAction::Send(commands.0))
        }
        ReactionAction::Decide(decide) => Ok(ExecutableAction::Decide(decide(event, context)?)),
        ReactionAction::Call(call) => Ok(ExecutableAction::Call(call(event, context)?)),
        ReactionAction::Publish(publish) => Ok(ExecutableAction::Publish(publish(event, context)?)),
    }
}

/// Returns whether the state of the subject refuses the command, which ends the step like success.
/// A reused key means that another version of the code sent its command already. No later attempt writes the data of an
/// erased person, or finds out whether the command was sent before the erasure.
const fn is_final_refusal(error: &CommandError) -> bool {
    matches!(
        error,
        CommandError::Rejected(_)
            | CommandError::NotUnique { .. }
            | CommandError::NotFound(_)
            | CommandError::AlreadyExists(_)
            | CommandError::KeyReused
            | CommandError::ErasedPerson(_)
    )
}

impl StepsAfterEvent {
    /// Adds what a step does for one view of the event.
    fn add(
        &mut self,
        index: usize,
        step: &ReactionStep,
        view_number: usize,
        view: &EventView<'_>,
    ) -> Result<(), ReactionError> {
        if let ReactionTiming::Deadline(deadline) = step.when
            && deadline.unless.contains(&view.event_type())
        {
            self.cancelled_steps.push(index);
        }
        if step.event != view.event_type() {
            return Ok(());
        }
        let instance = StepOfEventView {
            step: index,
            view: view_number,
        };
        match step.when {
            ReactionTiming::Immediate => self.immediate.push(instance),
            ReactionTiming::Deadline(deadline) => {
                if let Some(at) = (deadline.at)(view)? {
                    self.deadlines.push((at, instance));
                }
            }
            ReactionTiming::Schedule(_) => {}
        }
        Ok(())
    }
}
