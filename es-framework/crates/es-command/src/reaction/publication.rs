//! Publications: the public events that follow from stored events. Other systems receive public events, and never stored
//! ones.

use std::sync::Arc;

use es_event::{
    Declaration, DuplicateDeclaration, Event, EventView, NamedKind, sort_by_unique_name,
};
use futures_util::future::BoxFuture;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{ReactionContext, ReactionError};
use crate::command::{CommandResources, Parameter};

/// An event that other systems receive. `#[derive(PublicEvent)]` implements it.
///
/// ```
/// use es_framework::prelude::*;
///
/// /// A copy can be borrowed again.
/// #[derive(PublicEvent)]
/// #[public_event(version = 2)]
/// struct CopyAvailable {
///     id: Uuid,
/// }
///
/// assert_eq!(CopyAvailable::TYPE, "com.example.library.CopyAvailable.v2");
/// ```
pub trait PublicEvent: Serialize + JsonSchema + Send + Sync + 'static {
    /// The type, which ends with the version: `com.example.library.CopyAvailable.v1`.
    const TYPE: &'static str;
    /// The place of the declaration in the source.
    const DECLARATION: Declaration;
}

/// The descriptor of a public event: its declaration as plain data.
///
/// ```
/// use es_framework::{prelude::*, publication::PublicEventDescriptor};
/// # #[derive(PublicEvent)]
/// # struct CopyAvailable { id: Uuid }
/// let available = PublicEventDescriptor::of::<CopyAvailable>();
/// assert_eq!(available.event_type, "com.example.library.CopyAvailable.v1");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PublicEventDescriptor {
    /// The type, which ends with the version.
    pub event_type: &'static str,
    /// Returns the schema of the data.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// The place of the declaration in the source.
    pub declaration: Declaration,
}

impl PublicEventDescriptor {
    /// Returns the descriptor of the public event `E`.
    #[must_use]
    pub const fn of<E: PublicEvent>() -> Self {
        Self {
            event_type: E::TYPE,
            schema: SchemaGenerator::subschema_for::<E>,
            declaration: E::DECLARATION,
        }
    }
}

/// A public event on its way, with its data as JSON.
///
/// ```
/// use es_framework::{prelude::*, publication::OutgoingEvents};
/// # #[derive(PublicEvent)]
/// # struct CopyAvailable { id: Uuid }
/// let mut events = OutgoingEvents::default();
/// events.push(&CopyAvailable { id: Uuid::nil() })?;
/// let data: Vec<_> = events.iter().map(|event| event.data.get()).collect();
/// assert_eq!(data, [r#"{"id":"00000000-0000-0000-0000-000000000000"}"#]);
/// # Ok::<_, es_framework::reaction::ReactionError>(())
/// ```
#[derive(Debug, Clone)]
pub struct OutgoingEvent {
    /// The type.
    pub event_type: &'static str,
    /// The data, a JSON object.
    pub data: Arc<RawValue>,
}

/// The public events that follow from one stored event, in their order.
///
/// ```
/// use es_framework::{prelude::*, publication::OutgoingEvents};
/// # #[derive(PublicEvent)]
/// # struct CopyAvailable { id: Uuid }
/// let mut events = OutgoingEvents::default();
/// events.push(&CopyAvailable { id: Uuid::nil() })?;
/// assert_eq!(events.iter().count(), 1);
/// # Ok::<_, es_framework::reaction::ReactionError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct OutgoingEvents(Vec<OutgoingEvent>);

impl OutgoingEvents {
    /// Adds an event behind the others.
    ///
    /// # Errors
    /// The event cannot be written as JSON.
    pub fn push<E: PublicEvent>(&mut self, event: &E) -> Result<(), ReactionError> {
        self.0.push(OutgoingEvent {
            event_type: E::TYPE,
            data: to_raw_value(event)?.into(),
        });
        Ok(())
    }

    /// Returns the events in their order.
    pub fn iter(&self) -> impl Iterator<Item = &OutgoingEvent> {
        self.0.iter()
    }
}

/// A type that a publication may return: a public event, several as a tuple or a `Vec`, or an optional one as an `Option`.
///
/// ```
/// use es_framework::{prelude::*, publication::IntoPublicEvents};
/// # #[derive(PublicEvent)]
/// # struct CopyAvailable { id: Uuid }
/// let types = <(CopyAvailable, Vec<CopyAvailable>)>::public_events();
/// assert_eq!(types.len(), 2); // what it may return, and not how many
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be published",
    label = "this is no public event",
    note = "a function with `#[publish]` returns a public event (`#[derive(PublicEvent)]`), or an `Option`, a `Vec` or a tuple of public events"
)]
pub trait IntoPublicEvents {
    /// Adds the events in order.
    ///
    /// # Errors
    /// An event cannot be written as JSON.
    fn add_to(self, events: &mut OutgoingEvents) -> Result<(), ReactionError>;

    /// Returns the events that it may add.
    fn public_events() -> Vec<PublicEventDescriptor>;
}

impl<E: PublicEvent> IntoPublicEvents for E {
    fn add_to(self, events: &mut OutgoingEvents) -> Result<(), ReactionError> {
        events.push(&self)
    }

    fn public_events() -> Vec<PublicEventDescriptor> {
        vec![PublicEventDescriptor::of::<E>()]
    }
}

impl<T: IntoPublicEvents> IntoPublicEvents for Option<T> {
    fn add_to(self, events: &mut OutgoingEvents) -> Result<(), ReactionError> {
        self.map_or(Ok(()), |event| event.add_to(events))
    }

    fn public_events() -> Vec<PublicEventDescriptor> {
        T::public_events()
    }
}

impl<T: IntoPublicEvents> IntoPublicEvents for Vec<T> {
    fn add_to(self, events: &mut OutgoingEvents) -> Result<(), ReactionError> {
        self.into_iter().try_for_each(|event| event.add_to(events))
    }

    fn public_events() -> Vec<PublicEventDescriptor> {
        T::public_events()
    }
}

macro_rules! tuples {
    ($($name:ident),*) => {
        impl<$($name: IntoPublicEvents),*> IntoPublicEvents for ($($name,)*) {
            #[allow(non_snake_case)]
            fn add_to(self, events: &mut OutgoingEvents) -> Result<(), ReactionError> {
                let ($($name,)*) = self;
                $($name.add_to(events)?;)*
                Ok(())
            }

            fn public_events() -> Vec<PublicEventDescriptor> {
                let mut events = Vec::new();
                $(events.extend($name::public_events());)*
                events
            }
        }
    };
}

tuples!(A, B);
tuples!(A, B, C);
tuples!(A, B, C, D);

/// The public events of a publication whose states are being rebuilt.
///
/// ```
/// use es_framework::publication::{OutgoingEvents, PendingEvents, box_events};
///
/// let nothing: PendingEvents = box_events(async { Ok(OutgoingEvents::default()) });
/// ```
pub type PendingEvents = BoxFuture<'static, Result<OutgoingEvents, ReactionError>>;

/// The function of a publication: it decodes the stored event, rebuilds the states that it takes, and calls the
/// application's function.
///
/// ```
/// use es_framework::publication::{OutgoingEvents, PublishFunction, box_events};
///
/// const NOTHING: PublishFunction =
///     |_event, _context| Ok(box_events(async { Ok(OutgoingEvents::default()) }));
/// ```
pub type PublishFunction =
    fn(&EventView<'_>, &ReactionContext<'_>) -> Result<PendingEvents, ReactionError>;

/// The descriptor of a publication: its declaration as plain data. `#[publish]` registers it.
///
/// ```
/// use es_framework::publication::PublicationDescriptor;
///
/// /// Returns the types of the public events that may follow.
/// fn types(publication: &PublicationDescriptor) -> Vec<&'static str> {
///     (publication.public_events)().iter().map(|event| event.event_type).collect()
/// }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PublicationDescriptor {
    /// The name of the function, which is part of the ids of its public events. No two publications have one name.
    pub name: &'static str,
    /// The type of the stored event.
    pub event: &'static str,
    /// Publishes the event.
    pub publish: PublishFunction,
    /// The states that the function takes.
    pub parameters: &'static [Parameter],
    /// Returns the public events that the function may return.
    pub public_events: fn() -> Vec<PublicEventDescriptor>,
    /// The personal fields of the stored event that the function sees. It sees the replacements of all others.
    pub personal: &'static [&'static str],
    /// The place of the declaration in the source.
    pub declaration: Declaration,
}

inventory::collect!(PublicationDescriptor);
inventory::collect!(PublicEventDescriptor);

impl PublicationDescriptor {
    /// Publishes an event that has the type of the publication. The states are rebuilt from the events of `resources`
    /// up to this one.
    ///
    /// # Errors
    /// The event is unreadable, or names a subject that cannot be. The future fails if a state is missing, or if the
    /// store fails.
    pub fn publish_event(
        &self,
        event: &EventView<'_>,
        resources: &CommandResources,
    ) -> Result<PendingEvents, ReactionError> {
        let context = ReactionContext::of_publication(self.name, event.recorded(), resources);
        (self.publish)(event, &context)
    }
}

/// Decodes an event for a publication. The replacement stands for each personal value that is in none of these members.
///
/// ```
/// use es_framework::{event::EventView, prelude::*, publication::decode_event, reaction::ReactionError};
/// # #[derive(Event)]
/// # struct ReaderRegisteredEvent { id: Uuid, #[personal(of = id, erased = "erased reader")] name: String }
///
/// fn name_of(event: &EventView<'_>) -> Result<String, ReactionError> {
///     Ok(decode_event::<ReaderRegisteredEvent>(event, &["name"])?.name)
/// }
/// ```
///
/// # Errors
/// The payload does not fit the event type.
pub fn decode_event<E: Event>(event: &EventView<'_>, shown: &[&str]) -> Result<E, ReactionError> {
    Ok(event.payload_without_personal(shown)?)
}

/// Returns the JSON name of a personal field.
///
/// ```
/// use es_framework::{prelude::*, publication::personal_member};
/// # #[derive(Event)]
/// # struct ReaderRegisteredEvent { id: Uuid, #[personal(of = id)] first_name: Option<String> }
///
/// assert_eq!(personal_member::<ReaderRegisteredEvent>("first_name"), "firstName");
/// ```
///
/// # Panics
/// The event has no personal field of this name, at compile time.
#[must_use]
#[track_caller]
pub const fn personal_member<E: Event>(field: &str) -> &'static str {
    let (mut rest, mut found) = (E::PERSONAL, None);
    while let [(name, member), others @ ..] = rest {
        if es_event::are_equal(name, field) {
            found = Some(*member);
        }
        rest = others;
    }
    assert!(
        found.is_some(),
        "the event has no personal field of this name: name fields with `#[personal(…)]`, and leave the others out, because the publication sees them anyway"
    );
    match found {
        Some(member) => member,
        None => "",
    }
}

/// Boxes the public events of a publication.
///
/// ```
/// use es_framework::publication::{OutgoingEvents, box_events};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let published = box_events(async { Ok(OutgoingEvents::default()) }).await;
/// assert_eq!(published.unwrap().iter().count(), 0);
/// # }
/// ```
pub fn box_events(
    events: impl Future<Output = Result<OutgoingEvents, ReactionError>> + Send + 'static,
) -> PendingEvents {
    Box::pin(events)
}

/// The sorted and checked publications of an application.
///
/// ```
/// use es_framework::publication::Publications;
///
/// assert_eq!(Publications::new([])?.iter().count(), 0);
/// # Ok::<_, es_framework::event::DuplicateDeclaration>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Publications(Vec<PublicationDescriptor>);

impl Publications {
    /// Sorts and checks declared publications.
    ///
    /// # Errors
    /// Two of them have one name.
    pub fn new(
        declared: impl IntoIterator<Item = PublicationDescriptor>,
    ) -> Result<Self, DuplicateDeclaration> {
        let name =
            |publication: &PublicationDescriptor| (publication.name, publication.declaration);
        sort_by_unique_name(NamedKind::Publication, declared, name).map(Self)
    }

    /// Returns the publications, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &PublicationDescriptor> {
        self.0.iter()
    }
}
