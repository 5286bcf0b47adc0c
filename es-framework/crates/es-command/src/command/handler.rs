//! The handler: a pure function from a command and its inputs to a decision.

use schemars::SchemaGenerator;

use super::{
    Command, CommandError, HandlerError, HandlerInputs, IntoDecision, Parameter,
    RejectionDescriptor, ReplySchema, UntypedDecision,
    input_slot::{InputOrigins, StateInput},
};
use es_event::Declaration;

/// A command that has a handler. `#[handler]` implements it; a second handler for the same command
/// is a second implementation, which the compiler refuses.
///
/// ```
/// use es_framework::{
///     Declaration,
///     command::{Handle, Handler, HandlerFunction, Input},
///     declaration,
///     prelude::*,
/// };
///
/// #[derive(Command)]
/// #[command(subject = "/books/{id}")]
/// struct BorrowBookCommand {
///     id: String,
/// }
///
/// #[derive(Event)]
/// struct BookBorrowedEvent {
///     at: Timestamp,
/// }
///
/// fn borrow(_: BorrowBookCommand, clock: &Clock) -> BookBorrowedEvent {
///     BookBorrowedEvent { at: clock.now() }
/// }
///
/// // The implementation that `#[handler]` writes.
/// impl Handle for BorrowBookCommand {
///     const HANDLER: Declaration = declaration!();
///     const FUNCTION: &'static dyn HandlerFunction<Self> = &Handler::new(
///         (Input::injected("clock"),),
///         |command, (clock,)| borrow(command, clock),
///     );
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the command `{Self}` has no handler",
    label = "nothing decides on this command",
    note = "write a function and put `#[handler]` on it: `fn decide(command: {Self}) -> SomethingHappenedEvent`"
)]
pub trait Handle: Command {
    /// The place of the handler in the source.
    const HANDLER: Declaration;
    /// The handler's inputs and its function.
    const FUNCTION: &'static dyn HandlerFunction<Self>;
}

/// The function of a handler for `C`, with the types of its inputs `I` and of its output `O`.
///
/// ```
/// use es_framework::{command::{Handler, Input}, prelude::*};
/// # #[derive(Command)]
/// # #[command(subject = "/books/{id}")]
/// # struct BorrowBookCommand { id: String }
/// # #[derive(Event)]
/// # struct BookBorrowedEvent { at: Timestamp }
/// # #[handler]
/// # fn handle(_: BorrowBookCommand) -> Option<BookBorrowedEvent> { None }
///
/// let borrow = Handler::new((Input::injected("clock"),), |_: BorrowBookCommand, (clock,): (&Clock,)| {
///     BookBorrowedEvent { at: clock.now() }
/// });
/// # drop(borrow);
/// ```
pub struct Handler<C, I: HandlerInputs<C>, O> {
    inputs: I,
    decide: for<'a> fn(C, I::Arguments<'a>) -> O,
    output: OutputFunctions<O>,
}

/// The functions of [`IntoDecision`] for one type.
struct OutputFunctions<O> {
    add_to: fn(O, &mut UntypedDecision) -> Result<(), HandlerError>,
    events: fn() -> Vec<&'static str>,
    may_be_empty: fn() -> bool,
    rejections: fn() -> &'static [RejectionDescriptor],
    reply_schema: fn(&mut SchemaGenerator) -> Option<ReplySchema>,
}

impl<C, I: HandlerInputs<C>, O> Handler<C, I, O> {
    /// Creates a handler from its inputs besides the command, a tuple, and its function.
    #[must_use]
    pub const fn new(inputs: I, decide: for<'a> fn(C, I::Arguments<'a>) -> O) -> Self
    where
        O: IntoDecision,
    {
        let output = OutputFunctions {
            add_to: O::add_to,
            events: O::events,
            may_be_empty: O::may_be_empty,
            rejections: O::rejections,
            reply_schema: O::reply_schema,
        };
        Self {
            inputs,
            decide,
            output,
        }
    }
}

/// A [`Handler`] for `C` whose inputs and output may be private to the application.
///
/// ```
/// use es_framework::{command::Handle, prelude::*};
/// # #[derive(Command)]
/// # #[command(subject = "/books/{id}")]
/// # struct PurchaseBookCommand { id: String }
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
///
/// #[handler]
/// fn purchase(_: PurchaseBookCommand) -> BookPurchasedEvent {
///     BookPurchasedEvent {}
/// }
///
/// assert_eq!(PurchaseBookCommand::FUNCTION.events(), [BookPurchasedEvent::TYPE]);
/// ```
pub trait HandlerFunction<C>: Send + Sync {
    /// Describes the parameters besides the command.
    fn parameters(&self) -> Vec<Parameter>;

    /// Returns the types of the events that the handler may return.
    fn events(&self) -> Vec<&'static str>;

    /// Returns whether the handler may return no event.
    fn may_be_empty(&self) -> bool;

    /// Returns the rejections that the handler can return.
    fn rejections(&self) -> &'static [RejectionDescriptor];

    /// Returns the JSON schema of the handler's reply, if it has one.
    fn reply_schema(&self, generator: &mut SchemaGenerator) -> Option<ReplySchema>;

    /// Prepares a decision on a command. Nothing is read yet.
    #[doc(hidden)]
    fn prepare(
        &'static self,
        command: C,
        origins: InputOrigins<'_>,
    ) -> Result<Box<dyn PreparedDecision>, CommandError>
    where
        C: Command;
}

/// A decision on a command of which the inputs are known, without the types of both.
#[doc(hidden)]
pub trait PreparedDecision: Send + Sync {
    /// Returns the states to rebuild.
    fn states(&mut self) -> Vec<&mut dyn StateInput>;

    /// Calls the handler with a clone of the command, which adds its events and its reply to a decision.
    fn decide(&self, decision: &mut UntypedDecision) -> Result<(), CommandError>;
}

/// A command and the slots of the inputs, with the handler that they are for.
struct FilledHandler<C: 'static, I: HandlerInputs<C>, O: 'static> {
    command: C,
    handler: &'static Handler<C, I, O>,
    slots: I::Slots,
}

impl<C: 'static, I: HandlerInputs<C>, O: 'static> HandlerFunction<C> for Handler<C, I, O> {
    fn parameters(&self) -> Vec<Parameter> {
        self.inputs.parameters()
    }

    fn events(&self) -> Vec<&'static str> {
        (self.output.events)()
    }

    fn may_be_empty(&self) -> bool {
        (self.output.may_be_empty)()
    }

    fn rejections(&self) -> &'static [RejectionDescriptor] {
        (self.output.rejections)()
    }

    fn reply_schema(&self, generator: &mut SchemaGenerator) -> Option<ReplySchema> {
        (self.output.reply_schema)(generator)
    }

    fn prepare(
        &'static self,
        command: C,
        origins: InputOrigins<'_>,
    ) -> Result<Box<dyn PreparedDecision>, CommandError>
    where
        C: Command,
    {
        let slots = self.inputs.slots(&command, origins)?;
        Ok(Box::new(FilledHandler {
            command,
            handler: self,
            slots,
        }))
    }
}

impl<C: Command, I: HandlerInputs<C>, O> PreparedDecision for FilledHandler<C, I, O> {
    fn states(&mut self) -> Vec<&mut dyn StateInput> {
        I::states(&mut self.slots)
    }

    fn decide(&self, decision: &mut UntypedDecision) -> Result<(), CommandError> {
        let Handler { decide, output, .. } = self.handler;
        let arguments = I::arguments(&self.slots)?;
        let decided = decide(self.command.clone(), arguments);
        (output.add_to)(decided, decision).map_err(CommandError::from)
    }
}
