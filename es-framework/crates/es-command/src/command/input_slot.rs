//! The slots that hold the inputs of a handler while it decides.

use std::sync::Arc;

use futures_util::{FutureExt as _, future::BoxFuture};
use tracing::Instrument as _;

use super::{CommandContext, CommandError, CommandResources, inject::StateFunctions};
use crate::state::{RebuiltState, StateScope};
use es_event::{EventId, OwnerRule};

/// The slot of one input.
#[doc(hidden)]
pub enum InputSlot<T: 'static> {
    /// A state, which is rebuilt for each attempt to decide.
    State(StateSlot<T>),
    /// The states of several subjects.
    States(Vec<StateSlot<T>>),
    /// A service of the application.
    Service(Arc<T>),
    /// A value of the request.
    Request(T),
}

/// The application and the request that inputs come from.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct InputOrigins<'a> {
    pub(super) resources: &'a CommandResources,
    pub(super) context: &'a CommandContext,
    pub(super) owner: Option<OwnerRule>,
}

/// The slot of a state of type `S`.
#[doc(hidden)]
pub struct StateSlot<S: 'static> {
    functions: &'static StateFunctions<S>,
    scope: StateScope,
    rebuilt: Option<RebuiltState<S>>,
}

/// The slot of a state of any type. The pipeline locks, reads and caches the states of all handlers through it.
#[doc(hidden)]
pub trait StateInput: Send + Sync {
    /// Returns the scope of the events that the state is rebuilt from.
    fn scope(&self) -> &StateScope;

    /// Rebuilds the state.
    fn rebuild<'a>(
        &'a mut self,
        resources: &'a CommandResources,
    ) -> BoxFuture<'a, Result<(), CommandError>>;

    /// Returns the last event of the scope when the state was rebuilt.
    fn last_event(&self) -> Option<EventId>;

    /// Moves the state into the cache, for the next command on its scope.
    fn store_in_cache(&mut self, resources: &CommandResources);
}

impl<T: Send + Sync> InputSlot<T> {
    /// Iterates over the slots of states.
    pub(super) fn states(&mut self) -> impl Iterator<Item = &mut dyn StateInput> {
        let slots = match self {
            Self::State(slot) => std::slice::from_mut(slot),
            Self::States(slots) => slots.as_mut_slice(),
            Self::Service(_) | Self::Request(_) => &mut [],
        };
        slots.iter_mut().map(|slot| slot as &mut dyn StateInput)
    }

    /// Returns the states of several subjects, in their order.
    pub(super) fn values(&self) -> Vec<Option<&T>> {
        match self {
            Self::States(slots) => slots.iter().map(StateSlot::value).collect(),
            one => vec![one.value()],
        }
    }

    /// Returns the value, unless it is a state that does not exist.
    pub(super) fn value(&self) -> Option<&T> {
        match self {
            Self::State(slot) => slot.value(),
            Self::States(_) => None,
            Self::Service(service) => Some(service),
            Self::Request(value) => Some(value),
        }
    }

    /// Returns the value. Only a state can be missing.
    pub(super) fn required_value(&self) -> Result<&T, CommandError> {
        match self {
            Self::State(slot) => {
                let missing = || CommandError::NotFound(slot.scope.subject.clone());
                slot.value().ok_or_else(missing)
            }
            // A handler takes several states as a list, never as one value.
            Self::States(_) => Err(CommandError::NotProvided("a single state")),
            Self::Service(service) => Ok(service),
            Self::Request(value) => Ok(value),
        }
    }
}

impl<S> StateSlot<S> {
    pub(super) const fn new(functions: &'static StateFunctions<S>, scope: StateScope) -> Self {
        Self {
            functions,
            scope,
            rebuilt: None,
        }
    }

    /// Returns the state, if it exists.
    pub(super) fn value(&self) -> Option<&S> {
        self.rebuilt.as_ref()?.state.as_ref()
    }
}

impl<S: Send + Sync> StateInput for StateSlot<S> {
    fn scope(&self) -> &StateScope {
        &self.scope
    }

    fn rebuild<'a>(
        &'a mut self,
        resources: &'a CommandResources,
    ) -> BoxFuture<'a, Result<(), CommandError>> {
        let Self {
            functions,
            scope,
            rebuilt,
        } = self;
        let span = tracing::info_span!(
            "rebuild",
            state = functions.descriptor.name,
            subject = %scope.subject,
            events = tracing::field::Empty
        );
        async move {
            *rebuilt = Some((functions.rebuild)(&resources.states, scope).await?);
            Ok(())
        }
        .instrument(span)
        .boxed()
    }

    fn last_event(&self) -> Option<EventId> {
        let latest = self.rebuilt.as_ref()?.latest;
        latest.map(|latest| latest.id)
    }

    fn store_in_cache(&mut self, resources: &CommandResources) {
        if let Some(rebuilt) = self.rebuilt.take() {
            (self.functions.store_in_cache)(&resources.states, &self.scope, rebuilt);
        }
    }
}
