//! The types that a handler may take besides its command, and where their values come from.

use futures_util::{FutureExt as _, future::BoxFuture};

use super::{Clock, CommandContext, ServiceType};
use crate::state::{Evolve, RebuildError, RebuiltState, StateDescriptor, StateLoader, StateScope};
use es_event::{Caller, Metadata, OwnerRule};

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
/// let origin = Courier::SOURCE.origin();
/// assert!(matches!(origin, ParameterOrigin::Service(service) if service.name == "Courier"));
/// ```
#[diagnostic::on_unimplemented(
    message = "a handler cannot take `&{Self}`",
    label = "nothing says where this comes from",
    note = "a handler takes its command, and references to states (`#[derive(State)]`), settings (`#[derive(Settings)]`), what `App::provide` is given (`#[derive(Service)]`), the `Clock`, the `Caller` and the `Metadata`"
)]
pub trait Inject: Send + Sync + Sized + 'static {
    /// The source of the values of this type.
    const SOURCE: InputSource<Self>;
}

/// A type that a call of a reaction may take by reference. The trait exists for the compiler's message about other types.
///
/// ```
/// use es_framework::{command::{InjectIntoCall, Parameter}, prelude::*};
///
/// const fn describe<T: InjectIntoCall>() -> Parameter {
///     Parameter::injected::<T>("clock")
/// }
/// assert_eq!(describe::<Clock>().name, "clock");
/// ```
#[diagnostic::on_unimplemented(
    message = "a call cannot take `&{Self}`",
    label = "nothing says where this comes from",
    note = "an `async` function of a reaction takes its event, and references to states (`#[derive(State)]`), settings (`#[derive(Settings)]`), what `App::provide` is given (`#[derive(Service)]`), the `Clock`, the `ReactionKey` and the `RecordedEvent`"
)]
pub trait InjectIntoCall: Inject {}

#[diagnostic::do_not_recommend]
impl<T: Inject> InjectIntoCall for T {}

/// A type that a query handler may take by reference. The trait exists for the compiler's message about other types.
///
/// ```
/// use es_framework::{command::{query_service, InjectIntoQuery}, prelude::*};
///
/// const fn name<T: InjectIntoQuery>() -> &'static str {
///     query_service::<T>().name
/// }
/// assert_eq!(name::<Clock>(), "Clock");
/// ```
#[diagnostic::on_unimplemented(
    message = "a query handler cannot take `&{Self}`",
    label = "nothing says where this comes from",
    note = "a query handler takes its query, and references to the `QueryContext`, settings (`#[derive(Settings)]`), what `App::provide` is given (`#[derive(Service)]`), the `Clock` and the `Caller`"
)]
pub trait InjectIntoQuery: Inject {}

#[diagnostic::do_not_recommend]
impl<T: Inject> InjectIntoQuery for T {}

/// Returns the type of a service or of settings that a query handler takes.
///
/// # Panics
/// It is a state or belongs to a command, at compile time.
#[doc(hidden)]
#[must_use]
#[track_caller]
#[allow(
    clippy::panic,
    reason = "the compiler reports the panic at the parameter"
)]
pub const fn query_service<T: InjectIntoQuery>() -> ServiceType {
    match T::SOURCE.origin() {
        ParameterOrigin::Service(service) => service,
        _ => panic!(
            "a query handler takes its query, and references to the `QueryContext`, settings (`#[derive(Settings)]`), what `App::provide` is given (`#[derive(Service)]`), the `Clock` and the `Caller`: a query reads rows of read models instead of states"
        ),
    }
}

/// A type that a handler may take as an `Option`, or with a subject. The trait exists for the
/// compiler's message about other types.
///
/// ```
/// use es_framework::{command::OptionalState, prelude::*};
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[derive(State)]
/// # struct Book {}
/// # #[evolve]
/// # impl Book {
/// #     fn purchased(_: &BookPurchasedEvent) -> Self { Self {} }
/// # }
/// # #[derive(Command)]
/// # #[command(subject = "/books/{id}")]
/// # struct RemoveBookCommand { id: String }
/// # #[handler]
/// # fn remove(_: RemoveBookCommand) -> Option<BookPurchasedEvent> { None }
/// // Book: IsState
/// const BOOK: OptionalState<RemoveBookCommand, Book> = OptionalState::new("book");
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
/// assert!(matches!(Metadata::SOURCE.origin(), ParameterOrigin::Metadata));
/// assert!(matches!(Clock::SOURCE.origin(), ParameterOrigin::Service(_)));
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

/// The source of the values of `T`: the events of a subject, the application, or the request.
///
/// ```
/// use es_framework::command::{Inject, InputSource};
///
/// struct Courier {
///     name: String,
/// }
///
/// impl Inject for Courier {
///     const SOURCE: InputSource<Self> = InputSource::service("Courier");
/// }
/// ```
#[derive(Debug)]
pub struct InputSource<T: 'static>(pub(super) SourceKind<T>);

/// The functions of a source keep the type of its values.
#[derive(Debug)]
pub(super) enum SourceKind<T: 'static> {
    State(StateFunctions<T>),
    Service(ServiceType),
    Request(ParameterOrigin, fn(&CommandContext, Option<OwnerRule>) -> T),
}

/// The functions that rebuild and cache a state of type `S`.
#[derive(Debug)]
pub(crate) struct StateFunctions<S> {
    pub(crate) descriptor: StateDescriptor,
    pub(crate) rebuild: RebuildFunction<S>,
    pub(super) store_in_cache: fn(&StateLoader, &StateScope, RebuiltState<S>),
}

pub(crate) type RebuildFunction<S> =
    for<'a> fn(
        &'a StateLoader,
        &'a StateScope,
    ) -> BoxFuture<'a, Result<RebuiltState<S>, RebuildError>>;

impl<T: 'static> InputSource<T> {
    /// The application provides one value, with [`App::provide`]. `name` is the name of the type.
    ///
    /// [`App::provide`]: https://docs.rs/es-framework/latest/es_framework/struct.App.html#method.provide
    #[must_use]
    pub const fn service(name: &'static str) -> Self {
        Self(SourceKind::Service(ServiceType::of::<T>(name)))
    }

    /// The value is a state, rebuilt from events.
    #[must_use]
    pub const fn state() -> Self
    where
        T: Evolve,
    {
        Self(SourceKind::State(StateFunctions {
            descriptor: StateDescriptor::of::<T>(),
            rebuild: |states, scope| states.rebuild(&scope.subject, scope.recursive).boxed(),
            store_in_cache: |states, scope, rebuilt| {
                states.store_in_cache(&scope.subject, scope.recursive, rebuilt);
            },
        }))
    }

    /// Returns the functions of a state, or `None` if the values are none.
    pub(crate) const fn state_functions(&self) -> Option<&StateFunctions<T>> {
        match &self.0 {
            SourceKind::State(state) => Some(state),
            SourceKind::Service(_) | SourceKind::Request(..) => None,
        }
    }

    /// Returns the source without the type of its values.
    #[must_use]
    pub const fn origin(&self) -> ParameterOrigin {
        match &self.0 {
            SourceKind::State(state) => ParameterOrigin::State(state.descriptor),
            SourceKind::Service(service) => ParameterOrigin::Service(*service),
            SourceKind::Request(origin, _) => *origin,
        }
    }
}

impl Inject for Clock {
    const SOURCE: InputSource<Self> = InputSource::service("Clock");
}

impl Inject for Caller {
    const SOURCE: InputSource<Self> = InputSource(SourceKind::Request(
        ParameterOrigin::Caller,
        |context, owner| context.caller.under_rule(owner),
    ));
}

impl Inject for Metadata {
    const SOURCE: InputSource<Self> = InputSource(SourceKind::Request(
        ParameterOrigin::Metadata,
        |context, _| context.metadata.clone(),
    ));
}
