//! A state type without its Rust type.

use super::{Evolve, StateReplay};
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

/// The descriptor of a state type.
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
    replay: fn(Upcasters) -> StateReplay,
}

impl StateDescriptor {
    /// Returns the descriptor of `S`.
    #[must_use]
    pub const fn of<S: Evolve>() -> Self {
        Self {
            name: S::NAME,
            events: S::EVENTS,
            declaration: S::DECLARATION,
            replay: StateReplay::begin_replay::<S>,
        }
    }

    /// Starts a replay of the state, before its first event.
    #[must_use]
    pub fn begin_replay(&self, upcasters: Upcasters) -> StateReplay {
        (self.replay)(upcasters)
    }
}
