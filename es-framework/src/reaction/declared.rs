//! The declaration of a reaction: which events lead to what, and when.

use std::fmt::Display;

use futures_util::future::BoxFuture;
use jiff::Timestamp;

use super::{Commands, Occasion, ReactionError};
use crate::{
    Declaration,
    command::{Origin, Parameter},
    event::{Event, EventView},
};

/// What an application does about events by itself. `#[reaction]` implements it.
pub trait React: Send + Sync + 'static {
    /// What it is called in its checkpoints, in the log and in the health check. Another name is
    /// another reaction, which begins anew.
    const NAME: &'static str;
    /// Which events its first start begins with.
    const BEGIN: Begin;
    /// How often a call that fails is made in all, before the reaction stops.
    const ATTEMPTS: u32 = 16;
    /// What follows from which event.
    const STEPS: &'static [Step];
    /// Where it is declared.
    const DECLARATION: Declaration;
}

/// Which events the first start of a reaction begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// The first that was ever stored.
    First,
    /// The first that is stored after the start.
    New,
}

/// What follows from one kind of event.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// The function's name, which is part of the keys of what it leads to.
    pub name: &'static str,
    /// The event's type.
    pub event: &'static str,
    /// When it follows.
    pub when: When,
    /// What follows.
    pub action: Action,
    /// What the function takes besides the event.
    pub parameters: &'static [Parameter],
}

/// When something follows from an event.
#[derive(Debug, Clone, Copy)]
pub enum When {
    /// As soon as the event is stored.
    AtOnce,
    /// When a time has come that the event names.
    Deadline(Deadline),
}

/// A time that an event names.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    /// The time; `None`, and nothing follows.
    pub at: fn(&EventView<'_>) -> Result<Option<Timestamp>, ReactionError>,
    /// The types of the events that cancel it, when they come later on the same subject.
    pub unless: &'static [&'static str],
}

/// What follows from an event.
#[derive(Debug, Clone, Copy)]
pub enum Action {
    /// Commands, each carried out once.
    Send(fn(&EventView<'_>, &mut Commands) -> Result<(), ReactionError>),
    /// A call of another system, made at least once.
    Call(fn(&EventView<'_>, &Occasion<'_>) -> Result<Pending, ReactionError>),
}

/// The event of a step.
///
/// # Errors
/// Its payload does not fit.
pub fn happened<E: Event>(event: &EventView<'_>) -> Result<E, ReactionError> {
    Ok(event.payload()?)
}

/// A call on its way.
pub type Pending = BoxFuture<'static, Result<(), ReactionError>>;

/// A call on its way, whatever its errors are.
pub fn pending<E: Display>(call: impl Future<Output = Result<(), E>> + Send + 'static) -> Pending {
    Box::pin(async move { call.await.map_err(ReactionError::call) })
}

/// A time that a field of an event holds, or may hold.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no time that a deadline could have",
    label = "this is no time",
    note = "`#[deadline(at = …)]` names a field of the event that is a `Timestamp` or an `Option<Timestamp>`"
)]
pub trait Time {
    /// The time, if there is one.
    fn time(&self) -> Option<Timestamp>;
}

impl Time for Timestamp {
    fn time(&self) -> Option<Timestamp> {
        Some(*self)
    }
}

impl Time for Option<Timestamp> {
    fn time(&self) -> Option<Timestamp> {
        *self
    }
}

/// Compiles if all of them can be given to a call.
///
/// # Panics
/// One is a state or the metadata of a request, at compile time.
#[must_use]
pub const fn check_services(parameters: &'static [Parameter]) -> &'static [Parameter] {
    let mut rest = parameters;
    while let [first, others @ ..] = rest {
        assert!(
            matches!(first.origin, Origin::Service(_)),
            "a reaction has no state and no metadata: let it send a command, whose handler takes them"
        );
        rest = others;
    }
    parameters
}

/// A reaction without its Rust type.
#[derive(Debug, Clone, Copy)]
pub struct ReactionDescriptor {
    /// What it is called.
    pub name: &'static str,
    /// Which events its first start begins with.
    pub begin: Begin,
    /// How often a call that fails is made in all.
    pub attempts: u32,
    /// What follows from which event.
    pub steps: &'static [Step],
    /// Where it is declared.
    pub declaration: Declaration,
}

inventory::collect!(ReactionDescriptor);

impl ReactionDescriptor {
    /// The descriptor of the reaction `R`.
    #[must_use]
    pub const fn of<R: React>() -> Self {
        Self {
            name: R::NAME,
            begin: R::BEGIN,
            attempts: R::ATTEMPTS,
            steps: R::STEPS,
            declaration: R::DECLARATION,
        }
    }
}
