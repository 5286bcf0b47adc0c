//! The conversion of an old event into the events that the application declares today.

use serde_json::value::RawValue;

use super::{DecodeError, Event, EventView};
use crate::Declaration;

/// An old event that is read as other events today. `#[upcast]` implements this trait. A second
/// upcaster for the same event does not compile.
///
/// ```
/// # use es_event::{Declaration, Event, Upcast};
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// struct BookAcquiredEvent {
///     title: String,
/// }
/// # impl Event for BookAcquiredEvent {
/// #     const TYPE: &str = "com.example.library.BookAcquiredEvent";
/// #     const DECLARATION: Declaration = es_event::declaration!();
/// # }
/// # #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// # struct BookPurchasedEvent {
/// #     title: String,
/// # }
/// # impl Event for BookPurchasedEvent {
/// #     const TYPE: &str = "com.example.library.BookPurchasedEvent";
/// #     const DECLARATION: Declaration = es_event::declaration!();
/// # }
///
/// impl Upcast for BookAcquiredEvent {
///     type Output = BookPurchasedEvent;
///     const UPCASTER: Declaration = es_event::declaration!();
///
///     fn upcast(self) -> BookPurchasedEvent {
///         BookPurchasedEvent { title: self.title }
///     }
/// }
///
/// let renamed = BookAcquiredEvent { title: "The Ring".into() }.upcast();
/// assert_eq!(renamed.title, "The Ring");
/// ```
#[diagnostic::on_unimplemented(
    message = "the event `{Self}` has no upcaster",
    label = "nothing says what becomes of this event",
    note = "write a function and put `#[upcast]` on it: `fn name_of_the_change(old: {Self}) -> TheEventOfToday`"
)]
pub trait Upcast: Event {
    /// The events that the upcaster returns.
    type Output: UpcastOutput;

    /// The place of the upcaster in the source.
    const UPCASTER: Declaration;

    /// Converts the old event into today's events.
    fn upcast(self) -> Self::Output;
}

/// The return types of upcasters: an event, a tuple or a `Vec` of events, an `Option` of an event,
/// or `()` for no event.
///
/// ```
/// use es_event::{Declaration, Event, UpcastOutput};
///
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// struct BookPurchasedEvent {}
/// # impl Event for BookPurchasedEvent {
/// #     const TYPE: &str = "com.example.library.BookPurchasedEvent";
/// #     const DECLARATION: Declaration = es_event::declaration!();
/// # }
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// struct CopyLabelledEvent {}
/// # impl Event for CopyLabelledEvent {
/// #     const TYPE: &str = "com.example.library.CopyLabelledEvent";
/// #     const DECLARATION: Declaration = es_event::declaration!();
/// # }
///
/// type Two = (BookPurchasedEvent, CopyLabelledEvent);
/// assert_eq!(Two::TYPES.len(), 2);
/// assert!(<() as UpcastOutput>::TYPES.is_empty()); // an event that means nothing today
/// ```
#[diagnostic::on_unimplemented(
    message = "an upcaster cannot return `{Self}`",
    label = "this is nothing that becomes of an event",
    note = "return a struct with `#[derive(Event)]`, a tuple, `Vec` or `Option` of such structs, or nothing"
)]
pub trait UpcastOutput {
    /// The types of the events that the upcaster can return.
    const TYPES: &'static [&'static str];

    /// Serializes the events of the upcaster and appends them to `events`.
    ///
    /// # Errors
    /// Fails if an event cannot be serialized as JSON.
    fn push_to(self, events: &mut Vec<UpcastedEvent>) -> Result<(), serde_json::Error>;
}

/// An event that an upcaster returned.
///
/// ```
/// # use es_event::{Declaration, Event, UpcastOutput as _};
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// struct BookPurchasedEvent {
///     title: String,
/// }
/// # impl Event for BookPurchasedEvent {
/// #     const TYPE: &str = "com.example.library.BookPurchasedEvent";
/// #     const DECLARATION: Declaration = es_event::declaration!();
/// # }
///
/// let mut events = Vec::new();
/// BookPurchasedEvent { title: "The Ring".into() }.push_to(&mut events)?;
/// assert_eq!(events[0].event_type, "com.example.library.BookPurchasedEvent");
/// assert_eq!(events[0].payload.get(), r#"{"title":"The Ring"}"#);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct UpcastedEvent {
    /// The event's type.
    pub event_type: &'static str,
    /// The event's payload.
    pub payload: Box<RawValue>,
    /// Deserializes the payload as the event that it was.
    pub(super) check: fn(EventView<'_>) -> Result<(), DecodeError>,
}

impl UpcastedEvent {
    fn from_event<E: Event>(event: &E) -> Result<Self, serde_json::Error> {
        Ok(Self {
            event_type: E::TYPE,
            payload: serde_json::value::to_raw_value(event)?,
            check: |view| view.payload::<E>().map(drop),
        })
    }
}

impl<E: Event> UpcastOutput for E {
    const TYPES: &'static [&'static str] = &[E::TYPE];

    fn push_to(self, events: &mut Vec<UpcastedEvent>) -> Result<(), serde_json::Error> {
        events.push(UpcastedEvent::from_event(&self)?);
        Ok(())
    }
}

impl UpcastOutput for () {
    const TYPES: &'static [&'static str] = &[];

    fn push_to(self, _: &mut Vec<UpcastedEvent>) -> Result<(), serde_json::Error> {
        Ok(())
    }
}

impl<E: Event> UpcastOutput for Option<E> {
    const TYPES: &'static [&'static str] = &[E::TYPE];

    fn push_to(self, events: &mut Vec<UpcastedEvent>) -> Result<(), serde_json::Error> {
        self.map_or(Ok(()), |event| event.push_to(events))
    }
}

impl<E: Event> UpcastOutput for Vec<E> {
    const TYPES: &'static [&'static str] = &[E::TYPE];

    fn push_to(self, events: &mut Vec<UpcastedEvent>) -> Result<(), serde_json::Error> {
        self.into_iter().try_for_each(|event| event.push_to(events))
    }
}

macro_rules! tuples {
    ($($name:ident),*) => {
        impl<$($name: Event),*> UpcastOutput for ($($name,)*) {
            const TYPES: &'static [&'static str] = &[$($name::TYPE),*];

            #[allow(non_snake_case)]
            fn push_to(self, events: &mut Vec<UpcastedEvent>) -> Result<(), serde_json::Error> {
                let ($($name,)*) = self;
                $($name.push_to(events)?;)*
                Ok(())
            }
        }
    };
}

tuples!(A, B);
tuples!(A, B, C);
tuples!(A, B, C, D);

/// The declaration of an upcaster as plain data.
///
/// ```
/// # use es_event::{Declaration, Event, Upcast, UpcasterDescriptor};
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// struct BookObtainedEvent {
///     title: String,
/// }
/// # impl Event for BookObtainedEvent {
/// #     const TYPE: &str = "com.example.library.BookObtainedEvent";
/// #     const DECLARATION: Declaration = es_event::declaration!();
/// # }
/// # #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// # struct BookPurchasedEvent {
/// #     title: String,
/// # }
/// # impl Event for BookPurchasedEvent {
/// #     const TYPE: &str = "com.example.library.BookPurchasedEvent";
/// #     const DECLARATION: Declaration = es_event::declaration!();
/// # }
///
/// impl Upcast for BookObtainedEvent {
///     type Output = BookPurchasedEvent;
///     const UPCASTER: Declaration = es_event::declaration!();
///
///     fn upcast(self) -> BookPurchasedEvent {
///         BookPurchasedEvent { title: self.title }
///     }
/// }
///
/// let upcaster = UpcasterDescriptor::of::<BookObtainedEvent>();
/// assert_eq!(upcaster.from, "com.example.library.BookObtainedEvent");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct UpcasterDescriptor {
    /// The type of the stored event.
    pub from: &'static str,
    /// The types of the events that the upcaster can return.
    pub to: &'static [&'static str],
    /// The place of the upcaster in the source.
    pub declaration: Declaration,
    /// Converts the stored event into today's events.
    pub upcast: fn(EventView<'_>) -> Result<Vec<UpcastedEvent>, DecodeError>,
}

impl UpcasterDescriptor {
    /// Returns the descriptor of the upcaster of `E`.
    #[must_use]
    pub const fn of<E: Upcast>() -> Self {
        Self {
            from: E::TYPE,
            to: <E::Output as UpcastOutput>::TYPES,
            declaration: E::UPCASTER,
            upcast: upcast::<E>,
        }
    }
}

inventory::collect!(UpcasterDescriptor);

/// Deserializes an old event and returns the events that replace it.
fn upcast<E: Upcast>(view: EventView<'_>) -> Result<Vec<UpcastedEvent>, DecodeError> {
    let old: E = view.payload()?;
    let mut events = Vec::new();
    view.with_event_context(old.upcast().push_to(&mut events))?;
    Ok(events)
}
