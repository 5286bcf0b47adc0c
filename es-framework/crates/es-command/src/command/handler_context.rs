//! The arguments of a handler.

use std::{any::Any, sync::Arc};

use super::HandlerError;
use crate::state::CachedState;
use es_event::{Caller, Metadata, Subject};

/// The arguments of a handler besides its command.
///
/// ```
/// use es_framework::{command::{HandlerContext, HandlerError}, prelude::*};
/// # #[derive(Event)]
/// # struct BookRemovedEvent {}
///
/// let context = HandlerContext::new("/books/42".parse()?, Metadata::default());
/// assert_eq!(context.build_decision(BookRemovedEvent {})?.into_parts().0.len(), 1);
/// // The context has no clock.
/// assert!(matches!(context.required_argument::<Clock>(0), Err(HandlerError::Parameter(0))));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct HandlerContext {
    pub(super) subject: Subject,
    pub(super) metadata: Metadata,
    caller: Caller,
    arguments: Vec<ResolvedArgument>,
}

/// The resolved value of one parameter of a handler.
#[derive(Debug)]
pub(super) enum ResolvedArgument {
    State(CachedState),
    Service(Arc<dyn Any + Send + Sync>),
    Metadata,
    Caller,
}

impl HandlerContext {
    /// Creates a context without arguments, in a service without authentication.
    #[must_use]
    pub const fn new(subject: Subject, metadata: Metadata) -> Self {
        let arguments = Vec::new();
        Self {
            subject,
            metadata,
            caller: Caller::Anyone,
            arguments,
        }
    }

    pub(super) fn with_caller(self, caller: Caller) -> Self {
        Self { caller, ..self }
    }

    pub(super) fn with_arguments(self, arguments: Vec<ResolvedArgument>) -> Self {
        Self { arguments, ..self }
    }

    pub(super) fn into_arguments(self) -> Vec<ResolvedArgument> {
        self.arguments
    }

    /// Returns an argument that must exist.
    ///
    /// # Errors
    /// The argument does not match [`Handle::PARAMETERS`](super::Handle::PARAMETERS).
    pub fn required_argument<T: 'static>(&self, parameter: usize) -> Result<&T, HandlerError> {
        let value: Option<&T> = match self.arguments.get(parameter) {
            Some(ResolvedArgument::State(state)) => state.state(),
            Some(ResolvedArgument::Service(service)) => service.downcast_ref(),
            Some(ResolvedArgument::Metadata) => (&self.metadata as &dyn Any).downcast_ref(),
            Some(ResolvedArgument::Caller) => (&self.caller as &dyn Any).downcast_ref(),
            None => None,
        };
        value.ok_or(HandlerError::Parameter(parameter))
    }

    /// Returns a state that need not exist.
    ///
    /// # Errors
    /// The argument does not match [`Handle::PARAMETERS`](super::Handle::PARAMETERS).
    pub fn optional_state<S: 'static>(&self, parameter: usize) -> Result<Option<&S>, HandlerError> {
        match self.arguments.get(parameter) {
            Some(ResolvedArgument::State(state)) => Ok(state.state()),
            _ => Err(HandlerError::Parameter(parameter)),
        }
    }
}
