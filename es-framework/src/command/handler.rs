//! The handler: a pure function from a command, and what is known, to a decision.

use std::{any::Any, sync::Arc};

use schemars::SchemaGenerator;

use super::{Command, Decided, HandlerError, IntoDecision, Parameter, RejectionDescriptor, Reply};
use crate::{
    Declaration,
    event::{InvalidSubjectPart, Metadata, Subject},
    state::HeldState,
};

/// A command that has a handler. `#[handler]` implements it; a second handler for the same command
/// is a second implementation, which the compiler refuses.
///
/// ```
/// # use es_framework::{command::{Given, Handle}, prelude::*};
/// # #[derive(Command)]
/// # #[command(subject = "/books/{id}", condition = pristine)]
/// # struct PurchaseBookCommand { id: String }
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[handler]
/// # fn purchase(_: PurchaseBookCommand) -> BookPurchasedEvent { BookPurchasedEvent {} }
/// let command = PurchaseBookCommand { id: "42".into() };
/// let decided = command.handle(&Given::on("/books/42".parse()?, Metadata::default()))?;
/// assert_eq!(decided.into_parts().0.len(), 1);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the command `{Self}` has no handler",
    label = "nothing decides on this command",
    note = "write a function and put `#[handler]` on it: `fn decide(command: {Self}) -> SomethingHappenedEvent`"
)]
pub trait Handle: Command {
    /// Where the handler stands.
    const HANDLER: Declaration;
    /// What it takes besides the command.
    const PARAMETERS: &'static [Parameter] = &[];

    /// The subject that a parameter with a subject of its own is rebuilt from.
    ///
    /// # Errors
    /// A field's value cannot stand in a subject.
    fn parameter_subject(&self, parameter: usize) -> Result<Subject, InvalidSubjectPart> {
        let _ = parameter;
        self.subject()
    }

    /// Every refusal that the handler may answer with.
    fn rejections() -> &'static [RejectionDescriptor] {
        &[]
    }

    /// What the handler answers besides events, if anything.
    fn reply(generator: &mut SchemaGenerator) -> Option<Reply> {
        let _ = generator;
        None
    }

    /// Decides on the command. Does no I/O.
    ///
    /// # Errors
    /// The handler rejects the command.
    fn handle(self, given: &Given) -> Result<Decided, HandlerError>;
}

/// What a handler is given besides its command.
///
/// ```
/// use es_framework::{command::{Given, HandlerError}, prelude::*};
/// # #[derive(Event)]
/// # struct BookRemovedEvent {}
///
/// let given = Given::on("/books/42".parse()?, Metadata::default());
/// assert_eq!(given.decide(BookRemovedEvent {})?.into_parts().0.len(), 1);
/// // It was given nothing else.
/// assert!(matches!(given.required::<Clock>(0), Err(HandlerError::Parameter(0))));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Given {
    subject: Subject,
    metadata: Metadata,
    parameters: Vec<Argument>,
}

/// The value of a parameter.
#[derive(Debug)]
pub(super) enum Argument {
    State(HeldState),
    Service(Arc<dyn Any + Send + Sync>),
    Metadata,
}

impl Given {
    /// Nothing but the command's subject and metadata.
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

    /// A parameter that is always there.
    ///
    /// # Errors
    /// [`Handle::PARAMETERS`] says otherwise.
    pub fn required<T: 'static>(&self, parameter: usize) -> Result<&T, HandlerError> {
        let value: Option<&T> = match self.parameters.get(parameter) {
            Some(Argument::State(held)) => held.state(),
            Some(Argument::Service(service)) => service.downcast_ref(),
            Some(Argument::Metadata) => (&self.metadata as &dyn Any).downcast_ref(),
            None => None,
        };
        value.ok_or(HandlerError::Parameter(parameter))
    }

    /// A state that there may be or not.
    ///
    /// # Errors
    /// [`Handle::PARAMETERS`] says otherwise.
    pub fn optional<S: 'static>(&self, parameter: usize) -> Result<Option<&S>, HandlerError> {
        match self.parameters.get(parameter) {
            Some(Argument::State(held)) => Ok(held.state()),
            _ => Err(HandlerError::Parameter(parameter)),
        }
    }

    /// What follows from a handler's output.
    ///
    /// # Errors
    /// The handler rejects the command, or an event cannot be written.
    pub fn decide<D: IntoDecision>(&self, output: D) -> Result<Decided, HandlerError> {
        let mut decided = Decided::on(self.subject.clone(), self.metadata.clone());
        output.decide(&mut decided)?;
        Ok(decided)
    }
}
