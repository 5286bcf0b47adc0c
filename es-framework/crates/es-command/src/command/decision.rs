//! Decisions: what handlers return.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{HandlerError, Rejection, RejectionDescriptor};
use crate::{new_event::NewEvent, unique::OwnedValues};
use es_event::{Event, EventType, Metadata, Subject};

/// Events together with a reply to the sender of the command. A handler without a reply returns the
/// events alone, and one that can reject the command returns a `Result`.
///
/// ```
/// use es_framework::prelude::*;
///
/// #[derive(Event)]
/// struct BookBorrowedEvent {
///     due_at: Timestamp,
/// }
///
/// #[derive(Value)]
/// struct LoanReceipt {
///     due_at: Timestamp,
/// }
///
/// fn decide(due_at: Timestamp) -> Decision<BookBorrowedEvent, LoanReceipt> {
///     let reply = LoanReceipt { due_at };
///     Decision::new(BookBorrowedEvent { due_at }, reply)
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision<E, R> {
    /// The events: any type that a handler may return.
    pub events: E,
    /// The body of the HTTP response.
    pub reply: R,
}

impl<E, R> Decision<E, R> {
    /// Creates a decision from events and a reply.
    #[must_use]
    pub const fn new(events: E, reply: R) -> Self {
        Self { events, reply }
    }
}

/// A decision without its Rust types: the new events in the order in which they are appended, and
/// the reply.
///
/// ```
/// use es_framework::{command::UntypedDecision, prelude::*};
///
/// #[derive(Event)]
/// struct BookRemovedEvent {}
///
/// let mut decision = UntypedDecision::new("/books/42".parse()?, Metadata::default());
/// decision.push(&BookRemovedEvent {})?;
/// let (events, reply) = decision.into_parts();
/// assert_eq!((events.len(), reply.is_none()), (1, true));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct UntypedDecision {
    subject: Subject,
    metadata: Metadata,
    events: Vec<NewEvent>,
    reply: Option<Box<RawValue>>,
    owned_values: Vec<OwnedValues>,
}

/// The JSON schema of a handler's reply.
///
/// ```
/// use es_framework::{command::IntoDecision, prelude::*};
/// # #[derive(Event)]
/// # struct BookBorrowedEvent {}
/// # #[derive(Value)]
/// # struct LoanReceipt {}
///
/// type Borrowed = Decision<BookBorrowedEvent, LoanReceipt>;
/// let mut schemas = schemars::SchemaGenerator::default();
/// assert!(Borrowed::reply_schema(&mut schemas).is_some_and(|reply| reply.always));
/// assert!(Option::<Borrowed>::reply_schema(&mut schemas).is_some_and(|reply| !reply.always));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ReplySchema {
    /// The schema.
    pub schema: Schema,
    /// True if every decision of the handler has a reply.
    pub always: bool,
}

impl ReplySchema {
    fn optional(self) -> Self {
        let always = false;
        Self { always, ..self }
    }
}

impl UntypedDecision {
    /// Creates a decision without events, for a command on `subject`. Each event gets `metadata`.
    #[must_use]
    pub const fn new(subject: Subject, metadata: Metadata) -> Self {
        Self {
            subject,
            metadata,
            events: Vec::new(),
            reply: None,
            owned_values: Vec::new(),
        }
    }

    /// Adds an event after the others.
    ///
    /// # Errors
    /// The event's JSON is not read back as the same event, or a field has no valid subject segment.
    pub fn push<E: Event>(&mut self, event: &E) -> Result<(), HandlerError> {
        let data = es_event::encode_event(&self.metadata, event).map_err(|reason| {
            let what = E::TYPE.into();
            HandlerError::Encode { what, reason }
        })?;
        let event_type = EventType::declared(E::TYPE);
        let subject = event
            .subject(&self.subject)
            .map_err(|part| HandlerError::Subject {
                event_type: E::TYPE,
                part,
            })?;
        self.owned_values
            .extend(OwnedValues::of_event(&subject, event));
        self.events.push(NewEvent {
            subject,
            event_type,
            data,
        });
        Ok(())
    }

    /// Sets the reply, which the sender of the command receives.
    ///
    /// # Errors
    /// The reply cannot be written as JSON, or has a number that is not finite.
    pub fn set_reply<R: Serialize>(&mut self, reply: &R) -> Result<(), HandlerError> {
        let json = es_event::encode_finite(reply).map_err(|reason| {
            let what = "the reply".into();
            HandlerError::Encode { what, reason }
        })?;
        self.reply = Some(json);
        Ok(())
    }

    /// Returns whether the decision has no events.
    pub(super) const fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Iterates over the events in order.
    pub(super) fn events(&self) -> impl Iterator<Item = &NewEvent> {
        self.events.iter()
    }

    /// Returns the unique values that the events give to their subjects.
    #[must_use]
    pub(crate) fn owned_values(&self) -> &[OwnedValues] {
        &self.owned_values
    }

    /// Returns the events in order and the reply.
    #[must_use]
    pub fn into_parts(self) -> (Vec<NewEvent>, Option<Box<RawValue>>) {
        (self.events, self.reply)
    }
}

/// A type that a handler may return: an event, several as a tuple or a `Vec`, an optional one as
/// an `Option`, none as `()`, a [`Decision`] with a reply, or a `Result` of any of these.
///
/// ```
/// use es_framework::{command::{UntypedDecision, IntoDecision}, prelude::*};
/// # #[derive(Event)]
/// # struct BookReturnedEvent {}
/// # #[derive(Event)]
/// # struct LoanClosedEvent {}
///
/// let mut decision = UntypedDecision::new("/books/42".parse()?, Metadata::default());
/// (BookReturnedEvent {}, Some(LoanClosedEvent {})).add_to(&mut decision)?;
/// assert_eq!(decision.into_parts().0.len(), 2);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a handler cannot return `{Self}`",
    label = "this is not what a handler decides on",
    note = "return a struct with `#[derive(Event)]`, a tuple of two to eight, in which each may be a tuple again, a `Vec` or an `Option` of such structs, a `Decision` of these and a reply with `#[derive(Value)]`, or a `Result` of any of these and an error with `#[derive(Rejection)]`"
)]
pub trait IntoDecision {
    /// Adds the events and the reply to a decision.
    ///
    /// # Errors
    /// The handler rejects the command, an event or the reply cannot be encoded as JSON, or a field of
    /// an event cannot be a part of its subject.
    fn add_to(self, decision: &mut UntypedDecision) -> Result<(), HandlerError>;

    /// Returns the types of the events that the handler may return, in order.
    fn events() -> Vec<&'static str> {
        Vec::new()
    }

    /// Returns the rejections that the type can contain.
    fn rejections() -> &'static [RejectionDescriptor] {
        &[]
    }

    /// Returns whether a decision of this type may have no events, such as an `Option` or a `Vec`.
    fn may_be_empty() -> bool {
        false
    }

    /// Returns the schema of the reply, or `None` if the type cannot contain a reply.
    fn reply_schema(generator: &mut SchemaGenerator) -> Option<ReplySchema> {
        let _ = generator;
        None
    }
}

/// An event that a handler may return. `#[derive(Event)]` implements it; an event written by hand
/// needs it beside [`Event`], because the compiler has to know that no `Option`, `Vec` or tuple is
/// an event.
///
/// ```
/// use es_framework::{Declaration, command::HandlerEvent, declaration, event::Event};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, schemars::JsonSchema)]
/// struct BookRemovedEvent {}
///
/// impl Event for BookRemovedEvent {
///     const TYPE: &'static str = "com.example.library.BookRemovedEvent";
///     const DECLARATION: Declaration = declaration!();
/// }
///
/// impl HandlerEvent for BookRemovedEvent {}
/// ```
pub trait HandlerEvent: Event {}

impl<E: HandlerEvent> IntoDecision for E {
    fn add_to(self, decision: &mut UntypedDecision) -> Result<(), HandlerError> {
        decision.push(&self)
    }

    fn events() -> Vec<&'static str> {
        vec![E::TYPE]
    }
}

impl<T: IntoDecision> IntoDecision for Option<T> {
    fn add_to(self, decision: &mut UntypedDecision) -> Result<(), HandlerError> {
        self.map_or(Ok(()), |some| some.add_to(decision))
    }

    fn may_be_empty() -> bool {
        true
    }

    fn rejections() -> &'static [RejectionDescriptor] {
        T::rejections()
    }

    fn reply_schema(generator: &mut SchemaGenerator) -> Option<ReplySchema> {
        T::reply_schema(generator).map(ReplySchema::optional)
    }

    fn events() -> Vec<&'static str> {
        T::events()
    }
}

impl<T: IntoDecision> IntoDecision for Vec<T> {
    fn add_to(self, decision: &mut UntypedDecision) -> Result<(), HandlerError> {
        self.into_iter().try_for_each(|one| one.add_to(decision))
    }

    fn may_be_empty() -> bool {
        true
    }

    fn rejections() -> &'static [RejectionDescriptor] {
        T::rejections()
    }

    fn reply_schema(generator: &mut SchemaGenerator) -> Option<ReplySchema> {
        T::reply_schema(generator).map(ReplySchema::optional)
    }

    fn events() -> Vec<&'static str> {
        T::events()
    }
}

impl<T: IntoDecision, R: Serialize + JsonSchema> IntoDecision for Decision<T, R> {
    fn add_to(self, decision: &mut UntypedDecision) -> Result<(), HandlerError> {
        self.events.add_to(decision)?;
        decision.set_reply(&self.reply)
    }

    fn may_be_empty() -> bool {
        T::may_be_empty()
    }

    fn rejections() -> &'static [RejectionDescriptor] {
        T::rejections()
    }

    fn reply_schema(generator: &mut SchemaGenerator) -> Option<ReplySchema> {
        let schema = generator.subschema_for::<R>();
        let always = true;
        Some(ReplySchema { schema, always })
    }

    fn events() -> Vec<&'static str> {
        T::events()
    }
}

impl<T: IntoDecision, R: Rejection> IntoDecision for Result<T, R> {
    fn add_to(self, decision: &mut UntypedDecision) -> Result<(), HandlerError> {
        self.map_err(|rejection| HandlerError::Rejected(Box::new(rejection)))?
            .add_to(decision)
    }

    fn may_be_empty() -> bool {
        T::may_be_empty()
    }

    fn rejections() -> &'static [RejectionDescriptor] {
        R::all()
    }

    fn reply_schema(generator: &mut SchemaGenerator) -> Option<ReplySchema> {
        T::reply_schema(generator)
    }

    fn events() -> Vec<&'static str> {
        T::events()
    }
}

macro_rules! tuples {
    ($($name:ident),*) => {
        impl<$($name: IntoDecision),*> IntoDecision for ($($name,)*) {
            #[allow(non_snake_case, unused_variables)]
            fn add_to(self, decision: &mut UntypedDecision) -> Result<(), HandlerError> {
                let ($($name,)*) = self;
                $($name.add_to(decision)?;)*
                Ok(())
            }

            fn may_be_empty() -> bool {
                true $(&& $name::may_be_empty())*
            }

            #[allow(unused_mut, unused_variables)]
            fn reply_schema(generator: &mut SchemaGenerator) -> Option<ReplySchema> {
                // The last reply replaces the others.
                let mut reply: Option<ReplySchema> = None;
                $(reply = $name::reply_schema(generator).or(reply);)*
                reply
            }

            #[allow(unused_mut)]
            fn events() -> Vec<&'static str> {
                let mut events = Vec::new();
                $(events.extend($name::events());)*
                events
            }
        }
    };
}

tuples!();
tuples!(A, B);
tuples!(A, B, C);
tuples!(A, B, C, D);
tuples!(A, B, C, D, E);
tuples!(A, B, C, D, E, F);
tuples!(A, B, C, D, E, F, G);
tuples!(A, B, C, D, E, F, G, H);
