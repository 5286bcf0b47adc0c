//! The handler: a pure function from a command and its context to a decision.

use std::{any::Any, sync::Arc};

use schemars::SchemaGenerator;

use super::{
    Command, HandlerError, IntoDecision, Parameter, RejectionDescriptor, ReplySchema,
    UntypedDecision,
};
use crate::{
    Declaration,
    event::{InvalidSubjectPart, Metadata, Subject},
    state::CachedState,
};

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
/// let decision = command.handle(&HandlerContext::on("/books/42".parse()?, Metadata::default()))?;
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
    /// Its parameters besides the command.
    const PARAMETERS: &'static [Parameter] = &[];

    /// Returns the subject of a state parameter.
    ///
    /// # Errors
    /// A field's value is not a valid subject segment.
    fn parameter_subject(&self, parameter: usize) -> Result<Subject, InvalidSubjectPart> {
        let _ = parameter;
        self.subject()
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
    /// The handler rejects the command.
    fn handle(self, context: &HandlerContext) -> Result<UntypedDecision, HandlerError>;
}

/// The arguments of a handler besides its command.
///
/// ```
/// use es_framework::{command::{HandlerContext, HandlerError}, prelude::*};
/// # #[derive(Event)]
/// # struct BookRemovedEvent {}
///
/// let context = HandlerContext::on("/books/42".parse()?, Metadata::default());
/// assert_eq!(context.decide(BookRemovedEvent {})?.into_parts().0.len(), 1);
/// // The context has no clock.
/// assert!(matches!(context.required::<Clock>(0), Err(HandlerError::Parameter(0))));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct HandlerContext {
    subject: Subject,
    metadata: Metadata,
    parameters: Vec<Argument>,
}

/// The argument for one parameter.
#[derive(Debug)]
pub(super) enum Argument {
    State(CachedState),
    Service(Arc<dyn Any + Send + Sync>),
    Metadata,
}

impl HandlerContext {
    /// Creates a context without arguments.
    #[must_use]
    pub const fn on(subject: Subject, metadata: Metadata) -> Self {
        let parameters = Vec::new();
        Self {
            subject,
            metadata,
            parameters,
        }
    }

    pub(super) fn with(self, parameters: Vec<Argument>) -> Self {
        Self { parameters, ..self }
    }

    pub(super) fn into_arguments(self) -> Vec<Argument> {
        self.parameters
    }

    /// Returns an argument that must exist.
    ///
    /// # Errors
    /// The argument does not match [`Handle::PARAMETERS`].
    pub fn required<T: 'static>(&self, parameter: usize) -> Result<&T, HandlerError> {
        let value: Option<&T> = match self.parameters.get(parameter) {
            Some(Argument::State(state)) => state.state(),
            Some(Argument::Service(service)) => service.downcast_ref(),
            Some(Argument::Metadata) => (&self.metadata as &dyn Any).downcast_ref(),
            None => None,
        };
        value.ok_or(HandlerError::Parameter(parameter))
    }

    /// Returns a state that need not exist.
    ///
    /// # Errors
    /// The argument does not match [`Handle::PARAMETERS`].
    pub fn optional<S: 'static>(&self, parameter: usize) -> Result<Option<&S>, HandlerError> {
        match self.parameters.get(parameter) {
            Some(Argument::State(state)) => Ok(state.state()),
            _ => Err(HandlerError::Parameter(parameter)),
        }
    }

    /// Converts a handler's output into a decision.
    ///
    /// # Errors
    /// The handler rejects the command, or an event cannot be written.
    pub fn decide<D: IntoDecision>(&self, output: D) -> Result<UntypedDecision, HandlerError> {
        let mut decision = UntypedDecision::on(self.subject.clone(), self.metadata.clone());
        output.add_to(&mut decision)?;
        Ok(decision)
    }
}
