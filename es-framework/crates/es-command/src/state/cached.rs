//! Rebuilt states without their Rust types. The command pipeline handles the states of any handler
//! through them.

use std::any::{Any, TypeId};

use futures_util::{FutureExt as _, future::BoxFuture};

use super::{Evolve, LastEvent, RebuildError, RebuiltState, StateLoader, StateReplay};
use es_event::{Declaration, Subject, Upcasters};

/// The scope of the events that a state is rebuilt from: a subject, with or without the subjects below
/// it.
///
/// ```
/// use es_framework::state::StateScope;
///
/// let reader = StateScope { subject: "/readers/ada".parse()?, recursive: true };
/// assert!(reader.recursive); // includes the events of /readers/ada/loans/1
/// # Ok::<_, es_framework::event::InvalidSubject>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateScope {
    /// The subject.
    pub subject: Subject,
    /// True if the events of the subjects below it are included.
    pub recursive: bool,
}

/// The descriptor of a state type: how its states are rebuilt and cached.
///
/// ```
/// use es_framework::{prelude::*, state::StateDescriptor};
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[derive(State)]
/// # struct Book {}
/// # #[evolve]
/// # impl Book {
/// #     fn purchased(_: &BookPurchasedEvent) -> Self { Self {} }
/// # }
/// let book = StateDescriptor::of::<Book>();
/// assert!(book.is::<Book>());
/// assert_eq!(book.events, ["com.example.library.BookPurchasedEvent"]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct StateDescriptor {
    /// The type's name.
    pub name: &'static str,
    /// The types of the events that change the state.
    pub events: &'static [&'static str],
    /// The place of the state's declaration in the source code.
    pub declaration: Declaration,
    id: TypeId,
    rebuild: RebuildFunction,
    store_in_cache: fn(&StateLoader, &StateScope, AnyState),
    replay: fn(Upcasters) -> StateReplay,
}

type RebuildFunction =
    for<'a> fn(&'a StateLoader, &'a StateScope) -> BoxFuture<'a, Result<CachedState, RebuildError>>;
type AnyState = Box<dyn Any + Send + Sync>;

/// A rebuilt state of any type. It goes back into the cache after the decision.
///
/// ```
/// use std::sync::Arc;
///
/// use es_framework::{
///     prelude::*,
///     state::{StateDescriptor, StateLoader, StateScope},
///     store::memory::MemoryStore,
/// };
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[derive(State)]
/// # struct Book {}
/// # #[evolve]
/// # impl Book {
/// #     fn purchased(_: &BookPurchasedEvent) -> Self { Self {} }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let states = StateLoader::new(Arc::new(MemoryStore::new()));
/// let scope = StateScope { subject: "/books/42".parse()?, recursive: false };
/// let book = StateDescriptor::of::<Book>().rebuild(&states, &scope).await?;
/// assert!(!book.exists && book.state::<Book>().is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CachedState {
    /// The last event of the scope.
    pub latest: Option<LastEvent>,
    /// True if the events lead to a state.
    pub exists: bool,
    rebuilt: AnyState,
}

impl StateDescriptor {
    /// Returns the descriptor of `S`.
    #[must_use]
    pub const fn of<S: Evolve>() -> Self {
        Self {
            name: S::NAME,
            events: S::EVENTS,
            declaration: S::DECLARATION,
            id: TypeId::of::<S>(),
            rebuild: |states, scope| rebuild::<S>(states, scope).boxed(),
            store_in_cache: |states, scope, rebuilt| {
                if let Ok(rebuilt) = rebuilt.downcast::<RebuiltState<S>>() {
                    states.store_in_cache(&scope.subject, scope.recursive, *rebuilt);
                }
            },
            replay: StateReplay::begin_replay::<S>,
        }
    }

    /// Starts a replay of the state, before its first event.
    #[must_use]
    pub fn begin_replay(&self, upcasters: Upcasters) -> StateReplay {
        (self.replay)(upcasters)
    }

    /// Returns whether this is the descriptor of `S`.
    #[must_use]
    pub fn is<S: 'static>(&self) -> bool {
        self.id == TypeId::of::<S>()
    }

    /// Rebuilds the current state of a scope.
    ///
    /// # Errors
    /// The event store failed, or an event does not fit its declaration.
    pub async fn rebuild(
        &self,
        states: &StateLoader,
        scope: &StateScope,
    ) -> Result<CachedState, RebuildError> {
        (self.rebuild)(states, scope).await
    }

    /// Caches a state for the next command on this scope.
    pub fn store_in_cache(&self, states: &StateLoader, scope: &StateScope, state: CachedState) {
        (self.store_in_cache)(states, scope, state.rebuilt);
    }
}

impl CachedState {
    /// Returns the state, if it exists and has this type.
    #[must_use]
    pub fn state<S: 'static>(&self) -> Option<&S> {
        let rebuilt = self.rebuilt.downcast_ref::<RebuiltState<S>>()?;
        rebuilt.state.as_ref()
    }
}

async fn rebuild<S: Evolve>(
    states: &StateLoader,
    scope: &StateScope,
) -> Result<CachedState, RebuildError> {
    let StateScope { subject, recursive } = scope;
    let rebuilt: RebuiltState<S> = states.rebuild(subject, *recursive).await?;
    Ok(CachedState {
        latest: rebuilt.latest,
        exists: rebuilt.state.is_some(),
        rebuilt: Box::new(rebuilt),
    })
}
