//! A rebuilt state, its type forgotten: how a bus handles the states of any handler.

use std::any::{Any, TypeId};

use futures_util::{FutureExt as _, future::BoxFuture};

use super::{Evolve, LastEvent, RebuildError, RebuiltState, StateLoader};
use crate::event::Subject;

/// Where a state is rebuilt from.
///
/// ```
/// use es_framework::state::StateSource;
///
/// let reader = StateSource { subject: "/readers/ada".parse()?, recursive: true };
/// assert!(reader.recursive); // /readers/ada/loans/1 belongs to it
/// # Ok::<_, es_framework::event::InvalidSubject>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateSource {
    /// The subject.
    pub subject: Subject,
    /// Whether the events of subjects below it belong to it.
    pub recursive: bool,
}

/// How a state of one type is rebuilt and kept.
///
/// ```
/// use es_framework::{prelude::*, state::StateKind};
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[derive(State)]
/// # struct Book {}
/// # #[evolve]
/// # impl Book {
/// #     fn purchased(_: &BookPurchasedEvent) -> Self { Self {} }
/// # }
/// let book = StateKind::of::<Book>();
/// assert!(book.is::<Book>());
/// assert_eq!(book.events, ["com.example.library.BookPurchasedEvent"]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct StateKind {
    /// The type's name.
    pub name: &'static str,
    /// The types of the events that it follows from.
    pub events: &'static [&'static str],
    id: TypeId,
    rebuild: Rebuild,
    keep: fn(&StateLoader, &StateSource, Erased),
}

type Rebuild = for<'a> fn(
    &'a StateLoader,
    &'a StateSource,
    CachePolicy,
) -> BoxFuture<'a, Result<CachedState, RebuildError>>;
type Erased = Box<dyn Any + Send + Sync>;

/// Whether what this process remembers may be used.
///
/// ```
/// # use es_framework::state::CachePolicy;
/// /// A conflict may come from what this process remembers.
/// fn memory(conflicts: u32) -> CachePolicy {
///     if conflicts == 0 { CachePolicy::Use } else { CachePolicy::Bypass }
/// }
/// # assert_eq!(memory(1), CachePolicy::Bypass);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CachePolicy {
    /// It may.
    Use,
    /// It has led to conflicts and may be wrong.
    Bypass,
}

/// A state that was rebuilt.
///
/// ```
/// use std::sync::Arc;
///
/// use es_framework::{
///     prelude::*,
///     state::{CachePolicy, StateSource, StateKind, StateLoader},
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
/// let source = StateSource { subject: "/books/42".parse()?, recursive: false };
/// let held = StateKind::of::<Book>().rebuild(&states, &source, CachePolicy::Use).await?;
/// assert!(!held.exists && held.state::<Book>().is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CachedState {
    /// The last event of its subject.
    pub latest: Option<LastEvent>,
    /// Whether there is a state at all.
    pub exists: bool,
    rebuilt: Erased,
}

impl StateKind {
    /// The kind of `S`.
    #[must_use]
    pub const fn of<S: Evolve>() -> Self {
        Self {
            name: S::NAME,
            events: S::EVENTS,
            id: TypeId::of::<S>(),
            rebuild: |states, source, memory| rebuild::<S>(states, source, memory).boxed(),
            keep: |states, source, rebuilt| {
                if let Ok(rebuilt) = rebuilt.downcast::<RebuiltState<S>>() {
                    states.keep(&source.subject, source.recursive, *rebuilt);
                }
            },
        }
    }

    /// Whether this is the kind of `S`.
    #[must_use]
    pub fn is<S: 'static>(&self) -> bool {
        self.id == TypeId::of::<S>()
    }

    /// The state of a source as of now.
    ///
    /// # Errors
    /// The event store failed, or an event does not fit its declaration.
    pub async fn rebuild(
        &self,
        states: &StateLoader,
        source: &StateSource,
        memory: CachePolicy,
    ) -> Result<CachedState, RebuildError> {
        (self.rebuild)(states, source, memory).await
    }

    /// Remembers a state for the next command on its source.
    pub fn keep(&self, states: &StateLoader, source: &StateSource, held: CachedState) {
        (self.keep)(states, source, held.rebuilt);
    }
}

impl CachedState {
    /// The state, if there is one.
    #[must_use]
    pub fn state<S: 'static>(&self) -> Option<&S> {
        self.rebuilt
            .downcast_ref::<RebuiltState<S>>()?
            .state
            .as_ref()
    }
}

async fn rebuild<S: Evolve>(
    states: &StateLoader,
    source: &StateSource,
    memory: CachePolicy,
) -> Result<CachedState, RebuildError> {
    let StateSource { subject, recursive } = source;
    let rebuilt: RebuiltState<S> = match memory {
        CachePolicy::Use => states.rebuild(subject, *recursive).await?,
        CachePolicy::Bypass => states.rebuild_afresh(subject, *recursive).await?,
    };
    Ok(CachedState {
        latest: rebuilt.latest,
        exists: rebuilt.state.is_some(),
        rebuilt: Box::new(rebuilt),
    })
}
