//! The traits of all states.

use serde::{Serialize, de::DeserializeOwned};

use es_event::{Declaration, DecodeError, EventView};

/// The state of a subject, folded from its events. `#[derive(State)]` implements it.
///
/// Snapshots store it as JSON. Clients never see it.
///
/// ```
/// use es_framework::{prelude::*, state::State as _};
///
/// #[derive(State)]
/// struct Book {}
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[evolve]
/// # impl Book { fn purchased(_: &BookPurchasedEvent) -> Self { Self {} } }
///
/// assert_eq!(Book::NAME, "Book");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state",
    label = "this is not rebuilt from events",
    note = "put `#[derive(State)]` on `{Self}`, and `#[evolve]` on an `impl {Self}` that says how it follows from events"
)]
pub trait State: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The type's name, such as `Book`.
    const NAME: &'static str;
    /// The place of the state's declaration in the source.
    const DECLARATION: Declaration;
}

/// Folds events into a state. `#[evolve]` implements it.
///
/// ```
/// use es_framework::{prelude::*, state::Evolve};
///
/// #[derive(Event)]
/// struct BookPurchasedEvent {}
///
/// #[derive(State)]
/// struct Book {}
///
/// #[evolve]
/// impl Book {
///     fn purchased(_: &BookPurchasedEvent) -> Self {
///         Self {}
///     }
/// }
///
/// assert_eq!(Book::EVENTS, ["com.example.library.BookPurchasedEvent"]);
/// ```
#[diagnostic::on_unimplemented(
    message = "nothing says how `{Self}` follows from events",
    label = "no event leads to this state",
    note = "a state has `#[derive(State)]`, and says how it follows from events: `#[evolve] impl {Self} {{ fn happened(event: &SomethingHappenedEvent) -> Self {{ … }} }}`"
)]
pub trait Evolve: State {
    /// The types of the events that change the state.
    const EVENTS: &'static [&'static str];

    /// Returns the state after an event. Events of other types change nothing.
    ///
    /// # Errors
    /// The event does not fit its declaration.
    fn evolve(before: Option<Self>, event: &EventView<'_>) -> Result<Option<Self>, DecodeError>;
}
