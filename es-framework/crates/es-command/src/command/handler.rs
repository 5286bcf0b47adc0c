//! The handler: a pure function from a command and its context to a decision.

use schemars::SchemaGenerator;

use super::{
    Command, HandlerContext, HandlerError, Parameter, RejectionDescriptor, ReplySchema,
    UntypedDecision,
};
use es_event::{Declaration, InvalidSubjectValue, Subject};

/// A command that has a handler. `#[handler]` implements it; a second handler for the same command
/// is a second implementation, which the compiler refuses.
///
/// ```
/// # use es_framework::{command::{HandlerContext, Handle}, prelude::*};
/// # #[derive(Command)]
/// # #[command(subject = "/books/{id}", condition = pristine)]
/// # struct PurchaseBookCommand { id: String }
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[handler]
/// # fn purchase(_: PurchaseBookCommand) -> BookPurchasedEvent { BookPurchasedEvent {} }
/// let command = PurchaseBookCommand { id: "42".into() };
/// let decision = command.handle(&HandlerContext::new("/books/42".parse()?, Metadata::default()))?;
/// assert_eq!(decision.into_parts().0.len(), 1);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the command `{Self}` has no handler",
    label = "nothing decides on this command",
    note = "write a function and put `#[handler]` on it: `fn decide(command: {Self}) -> SomethingHappenedEvent`"
)]
pub trait Handle: Command {
    /// The place of the handler in the source.
    const HANDLER: Declaration;
    /// The handler's parameters besides the command.
    const PARAMETERS: &'static [Parameter] = &[];

    /// Returns the subject of a state parameter.
    ///
    /// # Errors
    /// A field's value is not a valid subject segment.
    fn parameter_subject(&self, parameter: usize) -> Result<Subject, InvalidSubjectValue> {
        let _ = parameter;
        self.subject()
    }

    /// Returns the types of the events that the handler may return.
    fn events() -> Vec<&'static str> {
        Vec::new()
    }

    /// Returns the rejections that the handler can return.
    fn rejections() -> &'static [RejectionDescriptor] {
        &[]
    }

    /// Returns the JSON schema of the handler's reply, if it has one.
    fn reply(generator: &mut SchemaGenerator) -> Option<ReplySchema> {
        let _ = generator;
        None
    }

    /// Decides on the command. Does no I/O.
    ///
    /// # Errors
    /// The handler rejects the command, a parameter does not match [`PARAMETERS`](Self::PARAMETERS), or an
    /// event or the reply cannot be written.
    fn handle(self, context: &HandlerContext) -> Result<UntypedDecision, HandlerError>;
}
