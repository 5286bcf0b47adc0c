//! The description of a handler's parameter, without the type of its value.

use super::{InjectIntoCall, IsState, ParameterOrigin};
use crate::state::StateDescriptor;

/// The description of one parameter besides the command of a handler, or of a call of a reaction.
///
/// ```
/// use es_framework::{command::Parameter, prelude::*};
///
/// // async fn call(event: &BookBorrowedEvent, clock: &Clock)
/// let clock = Parameter::injected::<Clock>("clock");
/// assert_eq!((clock.name, clock.optional), ("clock", false));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// The parameter's name in the source.
    pub name: &'static str,
    /// The origin of the parameter's value.
    pub origin: ParameterOrigin,
    /// True if the handler also decides without a value.
    pub optional: bool,
    /// The template of the state's subject. By default it is the command's own subject.
    pub subject: Option<&'static str>,
    /// True if the state includes the events of all subjects below its own.
    pub recursive: bool,
}

impl Parameter {
    /// Describes a parameter of a call.
    #[must_use]
    pub const fn injected<T: InjectIntoCall>(name: &'static str) -> Self {
        Self::new(name, T::SOURCE.origin())
    }

    /// Describes a state, of the subject of this template or of the event's own subject.
    #[must_use]
    pub const fn of_state<S: IsState>(
        name: &'static str,
        subject: Option<&'static str>,
        recursive: bool,
    ) -> Self {
        let origin = ParameterOrigin::State(StateDescriptor::of::<S>());
        Self {
            subject,
            recursive,
            ..Self::new(name, origin)
        }
    }

    pub(super) const fn new(name: &'static str, origin: ParameterOrigin) -> Self {
        Self {
            name,
            origin,
            optional: false,
            subject: None,
            recursive: false,
        }
    }
}
