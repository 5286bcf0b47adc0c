//! A rebuilt state, its type forgotten: how a bus handles the states of any handler.

use std::any::{Any, TypeId};

use futures_util::{FutureExt as _, future::BoxFuture};

use super::{Evolve, Latest, RebuildError, Rebuilt, States};
use crate::event::Subject;

/// Where a state is rebuilt from.
///
/// ```
/// use es_framework::state::Source;
///
/// let reader = Source { subject: "/readers/ada".parse()?, recursive: true };
/// assert!(reader.recursive); // /readers/ada/loans/1 belongs to it
/// # Ok::<_, es_framework::event::InvalidSubject>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
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
    keep: fn(&States, &Source, Erased),
}

type Rebuild =
    for<'a> fn(&'a States, &'a Source, Memory) -> BoxFuture<'a, Result<HeldState, RebuildError>>;
type Erased = Box<dyn Any + Send + Sync>;

/// Whether what this process remembers may be used.
///
/// ```
/// # use es_framework::state::Memory;
/// /// A conflict may come from what this process remembers.
/// fn memory(conflicts: u32) -> Memory {
///     if conflicts == 0 { Memory::Used } else { Memory::Doubted }
/// }
/// # assert_eq!(memory(1), Memory::Doubted);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// It may.
    Used,
    /// It has led to conflicts and may be wrong.
    Doubted,
}

/// A state that was rebuilt.
///
/// ```
/// use std::sync::Arc;
///
/// use es_framework::{
///     prelude::*,
///     state::{Memory, Source, StateKind, States},
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
/// let states = States::new(Arc::new(MemoryStore::new()));
/// let source = Source { subject: "/books/42".parse()?, recursive: false };
/// let held = StateKind::of::<Book>().rebuild(&states, &source, Memory::Used).await?;
/// assert!(!held.exists && held.state::<Book>().is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct HeldState {
    /// The last event of its subject.
    pub latest: Option<Latest>,
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
                if let Ok(rebuilt) = rebuilt.downcast::<Rebuilt<S>>() {
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
        states: &States,
        source: &Source,
        memory: Memory,
    ) -> Result<HeldState, RebuildError> {
        (self.rebuild)(states, source, memory).await
    }

    /// Remembers a state for the next command on its source.
    pub fn keep(&self, states: &States, source: &Source, held: HeldState) {
        (self.keep)(states, source, held.rebuilt);
    }
}

impl HeldState {
    /// The state, if there is one.
    #[must_use]
    pub fn state<S: 'static>(&self) -> Option<&S> {
        self.rebuilt.downcast_ref::<Rebuilt<S>>()?.state.as_ref()
    }
}

async fn rebuild<S: Evolve>(
    states: &States,
    source: &Source,
    memory: Memory,
) -> Result<HeldState, RebuildError> {
    let Source { subject, recursive } = source;
    let rebuilt: Rebuilt<S> = match memory {
        Memory::Used => states.rebuild(subject, *recursive).await?,
        Memory::Doubted => states.rebuild_afresh(subject, *recursive).await?,
    };
    Ok(HeldState {
        latest: rebuilt.latest,
        exists: rebuilt.state.is_some(),
        rebuilt: Box::new(rebuilt),
    })
}
