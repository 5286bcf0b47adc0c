//! The way of a command: subjects → states → condition → handler → append with derived
//! preconditions.

use std::sync::Arc;

use super::{
    Clock, CommandContext, CommandError, Condition, Decided, Handle, HandlerError, Services,
    Violation,
    idempotency::Attempted,
    lock::Turns,
    parse,
    reading::{Found, Question},
    writing::Written,
};
use crate::{
    event::{EventId, InvalidSubjectPart, Subject, Upcasters},
    state::{Memory, Snapshots, States},
    store::EventStore,
};
use serde_json::value::RawValue;

/// Carries commands to their handlers and events to the store. Cheap to clone.
///
/// ```
/// use std::sync::Arc;
///
/// use es_framework::{
///     command::{Bus, CommandContext, CommandDescriptor, CommandRequest},
///     prelude::*,
///     store::memory::MemoryStore,
/// };
///
/// #[derive(Command)]
/// #[command(subject = "/books/{id}", condition = pristine)]
/// struct PurchaseBookCommand {
///     id: String,
/// }
///
/// #[derive(Event)]
/// struct BookPurchasedEvent {}
///
/// #[handler]
/// fn purchase(_: PurchaseBookCommand) -> BookPurchasedEvent {
///     BookPurchasedEvent {}
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), es_framework::command::CommandError> {
/// let bus = Bus::new(Arc::new(MemoryStore::new()), "library-service");
/// let purchase = CommandDescriptor::of::<PurchaseBookCommand>();
/// let request = CommandRequest {
///     body: br#"{"id":"42"}"#,
///     path_parameters: &[],
///     context: &CommandContext::default(),
/// };
/// let outcome = (purchase.execute)(&bus, request).await?;
/// assert_eq!((outcome.subject.as_str(), outcome.created), ("/books/42", true));
/// assert!((purchase.execute)(&bus, request).await.is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Bus {
    pub(super) store: Arc<dyn EventStore>,
    pub(super) source: Arc<str>,
    pub(super) states: States,
    pub(super) services: Arc<Services>,
    turns: Turns,
}

/// A command that was carried out: its events are durable.
///
/// ```
/// # use es_framework::command::Outcome;
/// /// Where a client finds what it has just created.
/// fn location(outcome: &Outcome) -> Option<&str> {
///     outcome.created.then(|| outcome.subject.as_str())
/// }
///
/// # let (created, position, latest, reply) = (true, None, None, None);
/// let outcome = Outcome { subject: "/books/42".parse()?, created, position, latest, reply };
/// assert_eq!(location(&outcome), Some("/books/42"));
/// # Ok::<_, es_framework::event::InvalidSubject>(())
/// ```
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What it was about.
    pub subject: Subject,
    /// Whether the command created the subject.
    pub created: bool,
    /// The last event that was written, if any.
    pub position: Option<EventId>,
    /// The last event of the subject, where it is known.
    pub latest: Option<EventId>,
    /// What the handler answers, as JSON.
    pub reply: Option<Box<RawValue>>,
}

/// One try to carry out a command.
#[derive(Debug)]
pub(super) enum Attempt {
    /// Its events are durable.
    Done(Outcome),
    /// A subject moved between the read and the write: read and decide again.
    Moved(Subject),
}

impl Bus {
    /// A bus that publishes as `source` into `store`, with the system's clock and no other
    /// service.
    #[must_use]
    pub fn new(store: Arc<dyn EventStore>, source: impl Into<Arc<str>>) -> Self {
        Self {
            states: States::new(Arc::clone(&store)),
            store,
            source: source.into(),
            services: Arc::new(Services::default().with(Clock::system())),
            turns: Turns::default(),
        }
    }

    /// Provides handlers with these.
    #[must_use]
    pub fn with_services(self, services: Services) -> Self {
        let services = Arc::new(services);
        Self { services, ..self }
    }

    /// Reads stored events by these.
    #[must_use]
    pub fn with_upcasters(self, upcasters: Upcasters) -> Self {
        let states = self.states.with_upcasters(upcasters);
        Self { states, ..self }
    }

    /// Keeps snapshots of the states of long subjects.
    #[must_use]
    pub fn with_snapshots(self, snapshots: Snapshots) -> Self {
        let states = self.states.with_snapshots(snapshots);
        Self { states, ..self }
    }

    /// Decides once on a command that was validated, on the state of this moment.
    pub(super) async fn attempt<C: Handle>(
        &self,
        command: C,
        context: &CommandContext,
        attempted: Option<&Attempted>,
        memory: Memory,
    ) -> Result<Attempt, CommandError> {
        let question = Question::of(&command).map_err(invalid_subject)?;
        let subjects = question.subjects(context);
        let turn = self.turns.wait(subjects.into_iter()).await;
        let _turn = turn.map_err(|_| CommandError::Contended(question.subject.clone()))?;
        if let Some(attempted) = attempted
            && let Some(outcome) = attempted.outcome(&*self.store).await?
        {
            return Ok(Attempt::Done(outcome));
        }
        let found = self.read(&question, context, memory).await?;
        let decided = decide(command, &found);
        let Found {
            latest,
            preconditions,
            given,
        } = found;
        self.keep(&question, given);
        let outcome = Outcome {
            subject: question.subject,
            created: C::CONDITION == Condition::Pristine,
            position: latest,
            latest,
            reply: None,
        };
        let written = self
            .write(decided?, preconditions, outcome, context, attempted)
            .await?;
        match written {
            Written::Done(outcome) => Ok(Attempt::Done(outcome)),
            // The conflict itself says that the subject is not pristine.
            Written::Conflict(subject, 1) if C::CONDITION == Condition::Pristine => {
                Err(CommandError::AlreadyExists(subject))
            }
            Written::Conflict(subject, _) => self.moved::<C>(subject, attempted).await,
        }
    }

    /// After a conflict that may have several reasons: a subject that is there for good need not be
    /// decided on again.
    async fn moved<C: Handle>(
        &self,
        subject: Subject,
        attempted: Option<&Attempted>,
    ) -> Result<Attempt, CommandError> {
        if let Some(attempted) = attempted
            && let Some(outcome) = attempted.outcome(&*self.store).await?
        {
            return Ok(Attempt::Done(outcome));
        }
        if C::CONDITION == Condition::Pristine {
            let latest = crate::store::latest_event(&*self.store, subject.clone(), false).await?;
            if latest.is_some() {
                return Err(CommandError::AlreadyExists(subject));
            }
        }
        Ok(Attempt::Moved(subject))
    }
}

fn decide<C: Handle>(command: C, found: &Found) -> Result<Decided, CommandError> {
    let span = tracing::info_span!("decide", command = C::NAME);
    let decided = span.in_scope(|| command.handle(&found.given));
    decided.map_err(|error| match error {
        HandlerError::Rejected(rejection) => CommandError::Rejected(rejection),
        HandlerError::Encode { .. } | HandlerError::Subject { .. } | HandlerError::Parameter(_) => {
            CommandError::Encode(error.to_string())
        }
    })
}

fn invalid_subject(part: InvalidSubjectPart) -> CommandError {
    let message = part.to_string();
    let pointer = format!("/{}", part.field);
    CommandError::Invalid(vec![Violation { pointer, message }])
}

/// Validates a command and decides on it once: what a test of a handler does.
pub(crate) async fn once<C: Handle>(
    bus: &Bus,
    command: C,
    context: &CommandContext,
) -> Result<Outcome, CommandError> {
    parse::validate(&command)?;
    match bus.attempt(command, context, None, Memory::Used).await? {
        Attempt::Done(outcome) => Ok(outcome),
        Attempt::Moved(subject) => Err(CommandError::Contended(subject)),
    }
}
