//! The states that an application declares.

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Declaration,
    event::{DecodeError, EventView},
};

/// What is known of a subject once its events are folded. `#[derive(State)]` implements it.
///
/// Its JSON is what a snapshot keeps; it is never sent anywhere.
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
    /// Where it is declared.
    const DECLARATION: Declaration;
}

/// How a state follows from events. `#[evolve]` implements it.
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
    /// The types of the events that it follows from.
    const EVENTS: &'static [&'static str];

    /// The state after an event, given the one before it. Events of other types change nothing.
    ///
    /// # Errors
    /// The event is of another shape than its declaration says.
    fn evolve(before: Option<Self>, event: &EventView<'_>) -> Result<Option<Self>, DecodeError>;
}
