//! The parameters that a handler may take besides its command, and where their values come from.

use std::{
    any::{Any, TypeId},
    collections::BTreeMap,
    fmt,
    sync::Arc,
};

use super::Clock;
use crate::state::{Evolve, StateDescriptor};
use es_event::{Caller, Metadata};

/// A type that a handler may take by reference.
///
/// ```
/// use es_framework::{command::{Inject, ParameterOrigin}, prelude::*};
///
/// #[derive(Service)] // implements Inject
/// struct Courier {
///     name: String,
/// }
///
/// assert!(matches!(Courier::ORIGIN, ParameterOrigin::Service(service) if service.name == "Courier"));
/// ```
#[diagnostic::on_unimplemented(
    message = "a handler cannot take `&{Self}`",
    label = "nothing says where this comes from",
    note = "besides its command, a handler takes references to states (`#[derive(State)]`), settings (`#[derive(Settings)]`), what `App::provide` is given (`#[derive(Service)]`), the `Clock`, the `Caller` and the `Metadata`"
)]
pub trait Inject: Send + Sync + 'static {
    /// The origin of the values of this type.
    const ORIGIN: ParameterOrigin;
}

/// A type that a handler may take as an `Option`, or with a subject. The trait exists for the
/// compiler's message about other types.
///
/// ```
/// use es_framework::{command::Parameter, prelude::*};
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[derive(State)]
/// # struct Book {}
/// # #[evolve]
/// # impl Book {
/// #     fn purchased(_: &BookPurchasedEvent) -> Self { Self {} }
/// # }
/// let parameter = Parameter::state::<Book>("book"); // Book: IsState
/// assert!(parameter.optional().optional);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no state",
    label = "only a state may be missing, or belong to a subject",
    note = "a state has `#[derive(State)]`, and says with `#[evolve]` how it follows from events; everything else is taken as it is, without `Option` and `#[subject(…)]`"
)]
pub trait IsState: Evolve {}

impl<S: Evolve> IsState for S {}

/// The origin of a parameter's value.
///
/// ```
/// use es_framework::{command::{Inject, ParameterOrigin}, prelude::*};
///
/// assert!(matches!(Metadata::ORIGIN, ParameterOrigin::Metadata));
/// assert!(matches!(Clock::ORIGIN, ParameterOrigin::Service(_)));
/// ```
#[derive(Debug, Clone, Copy)]
pub enum ParameterOrigin {
    /// A state, rebuilt from events.
    State(StateDescriptor),
    /// A service that the application provides once, for all commands.
    Service(ServiceType),
    /// The metadata of the request.
    Metadata,
    /// The sender of the request.
    Caller,
}

/// The Rust type of a service that an application provides.
///
/// ```
/// use es_framework::{command::{ServiceType, Services}, prelude::*};
///
/// let clock = ServiceType::of::<Clock>("Clock");
/// assert!(Services::default().with(Clock::system()).provides(clock));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceType {
    /// The type's name.
    pub name: &'static str,
    id: TypeId,
}

impl ServiceType {
    /// Returns the type `T` under this name.
    #[must_use]
    pub const fn of<T: 'static>(name: &'static str) -> Self {
        let id = TypeId::of::<T>();
        Self { name, id }
    }
}

impl Inject for Clock {
    const ORIGIN: ParameterOrigin = ParameterOrigin::Service(ServiceType::of::<Self>("Clock"));
}

impl Inject for Caller {
    const ORIGIN: ParameterOrigin = ParameterOrigin::Caller;
}

impl Inject for Metadata {
    const ORIGIN: ParameterOrigin = ParameterOrigin::Metadata;
}

/// One parameter of a handler besides its command, as `#[handler]` describes it.
///
/// ```
/// use es_framework::{command::Parameter, prelude::*};
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[derive(State)]
/// # struct Book {}
/// # #[evolve]
/// # impl Book {
/// #     fn purchased(_: &BookPurchasedEvent) -> Self { Self {} }
/// # }
/// // fn borrow(…, #[subject("/readers/{reader}")] lent: Option<&Book>)
/// let lent = Parameter::state::<Book>("lent").on_subject("/readers/{reader}").optional();
/// assert_eq!((lent.subject, lent.optional), (Some("/readers/{reader}"), true));
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
    /// Describes a parameter of any injectable type.
    #[must_use]
    pub const fn injected<T: Inject>(name: &'static str) -> Self {
        Self::from(name, T::ORIGIN)
    }

    /// Describes a state. It can be optional, recursive or have its own subject. If a required state
    /// does not exist, the command ends with [`CommandError::NotFound`](super::CommandError::NotFound).
    #[must_use]
    pub const fn state<S: IsState>(name: &'static str) -> Self {
        Self::from(name, ParameterOrigin::State(StateDescriptor::of::<S>()))
    }

    const fn from(name: &'static str, origin: ParameterOrigin) -> Self {
        Self {
            name,
            origin,
            optional: false,
            subject: None,
            recursive: false,
        }
    }

    /// Makes the parameter optional.
    #[must_use]
    pub const fn optional(self) -> Self {
        let optional = true;
        Self { optional, ..self }
    }

    /// Rebuilds the state from the subject of this template.
    #[must_use]
    pub const fn on_subject(self, subject: &'static str) -> Self {
        let subject = Some(subject);
        Self { subject, ..self }
    }

    /// Includes the events of all subjects below the one of the state.
    #[must_use]
    pub const fn recursive(self) -> Self {
        let recursive = true;
        Self { recursive, ..self }
    }
}

/// The services that an application provides, by type.
///
/// ```
/// use es_framework::{command::{Clock, Services}, prelude::*};
///
/// #[derive(Service)]
/// struct Courier {
///     name: String,
/// }
///
/// let services = Services::default()
///     .with(Clock::at("2026-07-01T12:00:00Z".parse()?))
///     .with(Courier { name: "Jo".into() });
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Services(BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl Services {
    /// Provides a value. It replaces an earlier value of the same type.
    #[must_use]
    pub fn with<T: Inject>(self, value: T) -> Self {
        self.with_shared(Arc::new(value))
    }

    /// Provides a shared value.
    #[must_use]
    pub fn with_shared<T: Inject>(mut self, value: Arc<T>) -> Self {
        self.0.insert(TypeId::of::<T>(), value);
        self
    }

    /// Returns whether a value of this type is provided.
    #[must_use]
    pub fn provides(&self, service: ServiceType) -> bool {
        self.0.contains_key(&service.id)
    }

    /// Returns the provided clock, or the system clock.
    pub fn clock(&self) -> Clock {
        let clock = self.0.get(&TypeId::of::<Clock>());
        let clock = clock.and_then(|clock| clock.downcast_ref::<Clock>());
        clock.cloned().unwrap_or_default()
    }

    pub(crate) fn get(&self, service: ServiceType) -> Option<Arc<dyn Any + Send + Sync>> {
        self.0.get(&service.id).cloned()
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Services").field(&self.0.len()).finish()
    }
}
