//! The declaration of a reaction: which events lead to what, and when.

use std::fmt::Display;

use futures_util::future::BoxFuture;
use jiff::Timestamp;

use super::{OutgoingCommands, ReactionContext, ReactionError};
use crate::{
    Declaration,
    command::{Parameter, ParameterOrigin},
    event::{Event, EventView},
};

/// What an application does about events by itself. `#[reaction]` implements it.
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
    /// What it is called in its checkpoints, in the log and in the health check. Another name is
    /// another reaction, which begins anew.
    const NAME: &'static str;
    /// Which events its first start begins with.
    const START: StartPosition;
    /// How often a call that fails is made in all, before the reaction stops.
    const ATTEMPTS: u32 = 16;
    /// What follows from which event.
    const STEPS: &'static [ReactionStep];
    /// Where it is declared.
    const DECLARATION: Declaration;
}

/// Which events the first start of a reaction begins with.
///
/// ```
/// use es_framework::{prelude::*, reaction::{StartPosition, React}};
/// # #[derive(Event)]
/// # struct BookBorrowedEvent {}
///
/// struct Receipts;
///
/// #[reaction(begin = new)] // whoever borrowed before has a receipt
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
    /// The first that was ever stored.
    First,
    /// The first that is stored after the start.
    New,
}

/// What follows from one kind of event.
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
    /// The function's name, which is part of the keys of what it leads to.
    pub name: &'static str,
    /// The event's type.
    pub event: &'static str,
    /// ReactionTiming it follows.
    pub when: ReactionTiming,
    /// What follows.
    pub action: ReactionAction,
    /// What the function takes besides the event.
    pub parameters: &'static [Parameter],
}

/// ReactionTiming something follows from an event.
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
    /// As soon as the event is stored.
    Immediate,
    /// ReactionTiming a time has come that the event names.
    Deadline(Deadline),
}

/// A time that an event names.
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
    /// The time; `None`, and nothing follows.
    pub at: fn(&EventView<'_>) -> Result<Option<Timestamp>, ReactionError>,
    /// The types of the events that cancel it, when they come later on the same subject.
    pub unless: &'static [&'static str],
}

/// What follows from an event.
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
    /// OutgoingCommands, each carried out once.
    Send(fn(&EventView<'_>, &mut OutgoingCommands) -> Result<(), ReactionError>),
    /// A call of another system, made at least once.
    Call(fn(&EventView<'_>, &ReactionContext<'_>) -> Result<PendingCall, ReactionError>),
}

/// The event of a step.
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
/// Its payload does not fit.
pub fn decode_event<E: Event>(event: &EventView<'_>) -> Result<E, ReactionError> {
    Ok(event.payload()?)
}

/// A call on its way.
///
/// ```
/// use es_framework::reaction::{ReactionAction, PendingCall, box_call};
///
/// let call = ReactionAction::Call(|_event, _occasion| {
///     let nothing: PendingCall = box_call(async { Ok::<_, std::io::Error>(()) });
///     Ok(nothing)
/// });
/// ```
pub type PendingCall = BoxFuture<'static, Result<(), ReactionError>>;

/// A call on its way, whatever its errors are.
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
    Box::pin(async move { call.await.map_err(ReactionError::call) })
}

/// A time that a field of an event holds, or may hold.
///
/// ```
/// use es_framework::{prelude::*, reaction::DeadlineTime};
///
/// assert_eq!(Timestamp::UNIX_EPOCH.time(), Some(Timestamp::UNIX_EPOCH));
/// assert_eq!(None::<Timestamp>.time(), None); // nothing is due
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no time that a deadline could have",
    label = "this is no time",
    note = "`#[deadline(at = …)]` names a field of the event that is a `Timestamp` or an `Option<Timestamp>`"
)]
pub trait DeadlineTime {
    /// The time, if there is one.
    fn time(&self) -> Option<Timestamp>;
}

impl DeadlineTime for Timestamp {
    fn time(&self) -> Option<Timestamp> {
        Some(*self)
    }
}

impl DeadlineTime for Option<Timestamp> {
    fn time(&self) -> Option<Timestamp> {
        *self
    }
}

/// Compiles if all of them can be given to a call.
///
/// # Panics
/// One is a state or the metadata of a request, at compile time.
#[doc(hidden)]
#[must_use]
pub const fn check_services(parameters: &'static [Parameter]) -> &'static [Parameter] {
    let mut rest = parameters;
    while let [first, others @ ..] = rest {
        assert!(
            matches!(first.origin, ParameterOrigin::Service(_)),
            "a reaction has no state and no metadata: let it send a command, whose handler takes them"
        );
        rest = others;
    }
    parameters
}

/// A reaction without its Rust type.
///
/// ```
/// use es_framework::{prelude::*, reaction::ReactionDescriptor};
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
/// let reminder = ReactionDescriptor::of::<LoanReminder>();
/// assert_eq!((reminder.name, reminder.attempts), ("LoanReminder", 16));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ReactionDescriptor {
    /// What it is called.
    pub name: &'static str,
    /// Which events its first start begins with.
    pub begin: StartPosition,
    /// How often a call that fails is made in all.
    pub attempts: u32,
    /// What follows from which event.
    pub steps: &'static [ReactionStep],
    /// Where it is declared.
    pub declaration: Declaration,
}

inventory::collect!(ReactionDescriptor);

impl ReactionDescriptor {
    /// The descriptor of the reaction `R`.
    #[must_use]
    pub const fn of<R: React>() -> Self {
        Self {
            name: R::NAME,
            begin: R::START,
            attempts: R::ATTEMPTS,
            steps: R::STEPS,
            declaration: R::DECLARATION,
        }
    }
}
