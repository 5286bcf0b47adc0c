//! The declaration of a reaction: its events, steps, deadlines and actions.

use std::{fmt::Display, time::Duration};

use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};

use super::{
    OutgoingCommands, PendingCommands, ReactionContext, ReactionError, Schedule,
    publication::PublishFunction,
};
use crate::command::{CommandDescriptor, Parameter, ParameterOrigin};
use es_event::{Declaration, Event, EventId, EventView};

/// A reaction: the actions that follow from events. `#[reaction]` implements it.
///
/// ```
/// use es_framework::{prelude::*, reaction::{StartPosition, React}};
/// # #[derive(Event)]
/// # struct BookBorrowedEvent { id: Uuid }
/// # #[derive(Event)]
/// # struct ReaderRemindedEvent {}
/// # #[derive(Command)]
/// # #[command(subject = "/books/{id}", internal)]
/// # struct RemindReaderCommand { id: Uuid }
/// # #[handler]
/// # fn remind(_: RemindReaderCommand) -> ReaderRemindedEvent { ReaderRemindedEvent {} }
/// # struct LoanReminder;
/// # #[reaction]
/// # impl LoanReminder {
/// #     fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
/// #         RemindReaderCommand { id: event.id }
/// #     }
/// # }
/// assert_eq!((LoanReminder::NAME, LoanReminder::START), ("LoanReminder", StartPosition::First));
/// assert_eq!(LoanReminder::STEPS[0].event, "com.example.library.BookBorrowedEvent");
/// ```
pub trait React: Send + Sync + 'static {
    /// The name in checkpoints, in the log and in the health check. A renamed reaction starts anew.
    const NAME: &'static str;
    /// The event at which the reaction's first start begins.
    const START: StartPosition;
    /// The number of attempts to make a call before its subject waits for an operator. The pauses between them grow up
    /// to an hour, so 100 attempts take more than three days.
    const ATTEMPTS: u32 = 100;
    /// True if the commands may lead back to the events that start the reaction.
    const REPEATS: bool = false;
    /// The steps of the reaction.
    const STEPS: &'static [ReactionStep];
    /// The place of the reaction's declaration in the source.
    const DECLARATION: Declaration;
}

/// The event at which the first start of a reaction begins.
///
/// ```
/// use es_framework::{prelude::*, reaction::{StartPosition, React}};
/// # #[derive(Event)]
/// # struct BookBorrowedEvent {}
///
/// struct Receipts;
///
/// #[reaction(begin = new)] // earlier borrowers have a receipt
/// impl Receipts {
///     async fn print(_: &BookBorrowedEvent) -> Result<(), std::io::Error> {
///         Ok(())
///     }
/// }
///
/// assert_eq!(Receipts::START, StartPosition::New);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartPosition {
    /// The first event of the store.
    First,
    /// The first event after the start.
    New,
    /// The event after this one.
    After(EventId),
}

/// A step of a reaction: the action that follows from one event type.
///
/// ```
/// use es_framework::{prelude::*, reaction::React};
/// # #[derive(Event)]
/// # struct BookBorrowedEvent { id: Uuid }
/// # #[derive(Event)]
/// # struct ReaderRemindedEvent {}
/// # #[derive(Command)]
/// # #[command(subject = "/books/{id}", internal)]
/// # struct RemindReaderCommand { id: Uuid }
/// # #[handler]
/// # fn remind(_: RemindReaderCommand) -> ReaderRemindedEvent { ReaderRemindedEvent {} }
/// # struct LoanReminder;
/// # #[reaction]
/// # impl LoanReminder {
/// #     fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
/// #         RemindReaderCommand { id: event.id }
/// #     }
/// # }
/// let [step] = LoanReminder::STEPS else { panic!("it is one") };
/// assert_eq!((step.name, step.parameters.len()), ("remind", 0));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ReactionStep {
    /// The function's name, which is part of the idempotency keys.
    pub name: &'static str,
    /// The event type. A schedule has that of the event with which it started.
    pub event: &'static str,
    /// The time of the action.
    pub when: ReactionTiming,
    /// The action.
    pub action: ReactionAction,
    /// The function's parameters besides the event.
    pub parameters: &'static [Parameter],
    /// Returns the commands that the function may send.
    pub commands: fn() -> Vec<CommandDescriptor>,
}

/// The time at which a step is executed.
///
/// ```
/// use es_framework::{prelude::*, reaction::{React, ReactionTiming}};
/// # #[derive(Event)]
/// # struct BookBorrowedEvent { id: Uuid }
/// # #[derive(Event)]
/// # struct ReaderRemindedEvent {}
/// # #[derive(Command)]
/// # #[command(subject = "/books/{id}", internal)]
/// # struct RemindReaderCommand { id: Uuid }
/// # #[handler]
/// # fn remind(_: RemindReaderCommand) -> ReaderRemindedEvent { ReaderRemindedEvent {} }
/// # struct LoanReminder;
/// # #[reaction]
/// # impl LoanReminder {
/// #     fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
/// #         RemindReaderCommand { id: event.id }
/// #     }
/// # }
/// assert!(matches!(LoanReminder::STEPS[0].when, ReactionTiming::Immediate)); // it has no `#[deadline(…)]`
/// ```
#[derive(Debug, Clone, Copy)]
pub enum ReactionTiming {
    /// As soon as the event is recorded.
    Immediate,
    /// At a time that the event contains.
    Deadline(Deadline),
    /// At each time of a schedule, whatever happens.
    Schedule(Schedule),
}

/// A deadline whose time is in the event.
///
/// ```
/// use es_framework::{prelude::*, reaction::{Deadline, decode_event}};
///
/// #[derive(Event)]
/// struct BookBorrowedEvent {
///     due_at: Timestamp,
/// }
///
/// // What `#[deadline(at = due_at)]` writes.
/// let due = Deadline {
///     at: |event| Ok(Some(decode_event::<BookBorrowedEvent>(event)?.due_at)),
///     unless: &["com.example.library.BookReturnedEvent"],
/// };
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    /// Returns the time, or `None` if the event sets no deadline.
    pub at: fn(&EventView<'_>) -> Result<Option<Timestamp>, ReactionError>,
    /// The types of later events on the same subject that cancel the deadline.
    pub unless: &'static [&'static str],
}

/// The action of a step.
///
/// ```
/// use es_framework::{prelude::*, reaction::{ReactionAction, React}};
/// # #[derive(Event)]
/// # struct BookBorrowedEvent { id: Uuid }
/// # #[derive(Event)]
/// # struct ReaderRemindedEvent {}
/// # #[derive(Command)]
/// # #[command(subject = "/books/{id}", internal)]
/// # struct RemindReaderCommand { id: Uuid }
/// # #[handler]
/// # fn remind(_: RemindReaderCommand) -> ReaderRemindedEvent { ReaderRemindedEvent {} }
/// # struct LoanReminder;
/// # #[reaction]
/// # impl LoanReminder {
/// #     fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
/// #         RemindReaderCommand { id: event.id }
/// #     }
/// # }
/// assert!(matches!(LoanReminder::STEPS[0].action, ReactionAction::Send(_))); // it is not `async`
/// ```
#[derive(Debug, Clone, Copy)]
pub enum ReactionAction {
    /// Sends commands, each of which takes effect once.
    Send(SendFunction),
    /// Rebuilds states and sends commands, each of which takes effect once.
    Decide(fn(&EventView<'_>, &ReactionContext<'_>) -> Result<PendingCommands, ReactionError>),
    /// Rebuilds states and calls another system at least once.
    Call(fn(&EventView<'_>, &ReactionContext<'_>) -> Result<PendingCall, ReactionError>),
    /// Publishes, and delivers to the sink of the reaction at least once.
    Publish(PublishFunction),
}

/// The function of a step that sends commands.
///
/// ```
/// use es_framework::reaction::{ReactionAction, SendFunction};
///
/// const NOTHING: SendFunction = |_event, _context, _commands| Ok(());
/// let action = ReactionAction::Send(NOTHING);
/// ```
pub type SendFunction =
    fn(&EventView<'_>, &ReactionContext<'_>, &mut OutgoingCommands) -> Result<(), ReactionError>;

/// Decodes the event of a step.
///
/// ```
/// use es_framework::{event::EventView, prelude::*, reaction::{ReactionError, decode_event}};
/// # #[derive(Event)]
/// # struct BookBorrowedEvent { id: Uuid }
///
/// fn borrowed(event: &EventView<'_>) -> Result<Uuid, ReactionError> {
///     Ok(decode_event::<BookBorrowedEvent>(event)?.id)
/// }
/// ```
///
/// # Errors
/// The payload does not fit the event type.
pub fn decode_event<E: Event>(event: &EventView<'_>) -> Result<E, ReactionError> {
    Ok(event.payload()?)
}

/// The time limit of a call.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// A running call, perhaps after its states are rebuilt.
///
/// ```
/// use es_framework::reaction::{ReactionAction, PendingCall, box_call};
///
/// let call = ReactionAction::Call(|_event, _context| {
///     let nothing: PendingCall = box_call(async { Ok::<_, std::io::Error>(()) });
///     Ok(nothing)
/// });
/// ```
pub type PendingCall = BoxFuture<'static, Result<(), ReactionError>>;

/// Boxes a call, limits its time and converts its error.
///
/// ```
/// use es_framework::reaction::box_call;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let failed = box_call(async { Err("the mail server is away") }).await;
/// assert_eq!(failed.unwrap_err().to_string(), "the call failed: the mail server is away");
/// # }
/// ```
pub fn box_call<E: Display>(
    call: impl Future<Output = Result<(), E>> + Send + 'static,
) -> PendingCall {
    Box::pin(async move {
        let ended = tokio::time::timeout(CALL_TIMEOUT, call).await;
        let late = |_| format!("no answer within {} s", CALL_TIMEOUT.as_secs());
        let ended = ended.map_err(late).map_err(ReactionError::Call)?;
        ended.map_err(ReactionError::from_call_error)
    })
}

/// A field type that can be a deadline.
///
/// ```
/// use es_framework::{prelude::*, reaction::DeadlineField};
///
/// assert_eq!(Timestamp::UNIX_EPOCH.time(), Some(Timestamp::UNIX_EPOCH));
/// assert_eq!(None::<Timestamp>.time(), None); // nothing is due
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no time that a deadline could have",
    label = "this is no time",
    note = "`#[deadline(at = …)]` names a field of the event that is a `Timestamp` or an `Option<Timestamp>`"
)]
pub trait DeadlineField {
    /// Returns the time, if there is one.
    fn time(&self) -> Option<Timestamp>;
}

impl DeadlineField for Timestamp {
    fn time(&self) -> Option<Timestamp> {
        Some(*self)
    }
}

impl DeadlineField for Option<Timestamp> {
    fn time(&self) -> Option<Timestamp> {
        *self
    }
}

/// Moves the time of a deadline by seconds. A time out of the range of timestamps is the last one in it.
///
/// ```
/// use es_framework::{prelude::*, reaction::shift_time};
///
/// // The code that `#[deadline(at = starts_at - 24h)]` writes.
/// let starts_at: Timestamp = "2026-07-02T12:00:00Z".parse()?;
/// let due = shift_time(Some(starts_at), -86_400);
/// assert_eq!(due, Some("2026-07-01T12:00:00Z".parse()?));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn shift_time(time: Option<Timestamp>, seconds: i64) -> Option<Timestamp> {
    let duration = SignedDuration::from_secs(seconds);
    time.map(|time| time.saturating_add(duration).unwrap_or(time))
}

/// Rejects parameters that a call cannot have at compile time.
///
/// # Panics
/// One is the caller or the metadata of a request, or a state without a subject of its own in a schedule, at compile time.
#[doc(hidden)]
#[must_use]
#[track_caller]
pub const fn check_call(
    parameters: &'static [Parameter],
    is_scheduled: bool,
) -> &'static [Parameter] {
    let mut rest = parameters;
    while let [first, others @ ..] = rest {
        let is_state = matches!(first.origin, ParameterOrigin::State(_));
        assert!(
            !is_scheduled || !is_state || first.subject.is_some(),
            "a schedule has no event, so a state needs a subject: write `#[subject(\"/books\", recursive)]` before the parameter"
        );
        assert!(
            is_state || matches!(first.origin, ParameterOrigin::Service(_)),
            "an `async` function of a reaction takes its event, and references to states (`#[derive(State)]`), settings (`#[derive(Settings)]`), what `App::provide` is given (`#[derive(Service)]`), the `Clock`, the `ReactionKey` and the `RecordedEvent`: let it send a command, whose handler takes the rest"
        );
        rest = others;
    }
    parameters
}
