//! The decision: a pure function from a command to events.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{Command, Rejection, RejectionDescriptor};
use crate::{
    Declaration,
    event::{self, Event, EventType, Metadata},
};

/// A command that has a handler. `#[handler]` implements it; a second handler for the same command
/// is a second implementation, which the compiler refuses.
#[diagnostic::on_unimplemented(
    message = "the command `{Self}` has no handler",
    label = "nothing decides on this command",
    note = "write a function and put `#[handler]` on it: `fn decide(command: {Self}) -> SomethingHappenedEvent`"
)]
pub trait Handle: Command {
    /// Where the handler stands.
    const HANDLER: Declaration;

    /// Every refusal that the handler may answer with.
    fn rejections() -> &'static [RejectionDescriptor] {
        &[]
    }

    /// Decides on the command. Does no I/O.
    ///
    /// # Errors
    /// The handler rejects the command.
    fn handle(self) -> Result<Decision, HandlerError>;
}

/// What a handler decided on: events, in the order in which they are to be written.
#[derive(Debug, Default)]
pub struct Decision {
    events: Vec<NewEvent>,
}

/// An event that is not yet bound to a subject; it goes to the command's own.
#[derive(Debug)]
pub struct NewEvent {
    /// What kind of event it is.
    pub event_type: EventType,
    /// Metadata and payload, as they will be stored.
    pub data: Box<RawValue>,
}

/// Why a handler gave no decision.
#[derive(Debug, thiserror::Error)]
pub enum HandlerError {
    /// The domain says no.
    #[error("{0}")]
    Rejected(Box<dyn Rejection>),
    /// An event cannot be written as JSON.
    #[error("an event of type {event_type} cannot be written as JSON: {reason}")]
    Encode {
        /// The event's type.
        event_type: Cow<'static, str>,
        /// What stands against it.
        reason: serde_json::Error,
    },
}

impl Decision {
    /// Adds an event behind those that are there.
    ///
    /// # Errors
    /// The event cannot be written as JSON.
    pub fn push<E: Event>(&mut self, event: &E) -> Result<(), HandlerError> {
        let data =
            event::encode(&Metadata::default(), event).map_err(|reason| HandlerError::Encode {
                event_type: E::TYPE.into(),
                reason,
            })?;
        let event_type = EventType::declared(E::TYPE);
        self.events.push(NewEvent { event_type, data });
        Ok(())
    }

    /// The events, in order.
    #[must_use]
    pub fn into_events(self) -> Vec<NewEvent> {
        self.events
    }
}

/// What a handler may return: an event, several as a tuple or a `Vec`, perhaps one as an `Option`,
/// or a `Result` of any of these.
#[diagnostic::on_unimplemented(
    message = "a handler cannot return `{Self}`",
    label = "this is not what a handler decides on",
    note = "return a struct with `#[derive(Event)]`, a tuple, `Vec` or `Option` of such structs, or a `Result` of these and a `Rejection`"
)]
pub trait IntoDecision {
    /// The events, or why there are none.
    ///
    /// # Errors
    /// The handler rejects the command, or an event cannot be written as JSON.
    fn into_decision(self) -> Result<Decision, HandlerError>;

    /// Every refusal that it may be.
    fn rejections() -> &'static [RejectionDescriptor] {
        &[]
    }
}

impl<E: Event> IntoDecision for E {
    fn into_decision(self) -> Result<Decision, HandlerError> {
        let mut decision = Decision::default();
        decision.push(&self)?;
        Ok(decision)
    }
}

impl<E: Event> IntoDecision for Option<E> {
    fn into_decision(self) -> Result<Decision, HandlerError> {
        self.map_or_else(|| Ok(Decision::default()), E::into_decision)
    }
}

impl<E: Event> IntoDecision for Vec<E> {
    fn into_decision(self) -> Result<Decision, HandlerError> {
        let mut decision = Decision::default();
        self.iter().try_for_each(|event| decision.push(event))?;
        Ok(decision)
    }
}

impl<T: IntoDecision, R: Rejection> IntoDecision for Result<T, R> {
    fn into_decision(self) -> Result<Decision, HandlerError> {
        self.map_err(|rejection| HandlerError::Rejected(Box::new(rejection)))?
            .into_decision()
    }

    fn rejections() -> &'static [RejectionDescriptor] {
        R::all()
    }
}

macro_rules! tuples {
    ($($name:ident),*) => {
        impl<$($name: Event),*> IntoDecision for ($($name,)*) {
            #[allow(non_snake_case)]
            fn into_decision(self) -> Result<Decision, HandlerError> {
                let ($($name,)*) = self;
                let mut decision = Decision::default();
                $(decision.push(&$name)?;)*
                Ok(decision)
            }
        }
    };
}

tuples!(A, B);
tuples!(A, B, C);
tuples!(A, B, C, D);
