//! What handlers return, and what becomes of it.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{HandlerContext, HandlerError, Rejection, RejectionDescriptor};
use crate::event::{self, Event, EventType, Metadata, Subject};

/// Events together with an answer to whoever sent the command.
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
/// struct Loan {
///     due_at: Timestamp,
/// }
///
/// fn decide(due_at: Timestamp) -> Decision<BookBorrowedEvent, Loan> {
///     Decision::new(BookBorrowedEvent { due_at }, Loan { due_at })
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision<E, R> {
    /// An event, or whatever else a handler may return.
    pub events: E,
    /// The answer's body.
    pub reply: R,
}

impl<E, R> Decision<E, R> {
    /// These events and this answer.
    #[must_use]
    pub const fn new(events: E, reply: R) -> Self {
        Self { events, reply }
    }
}

/// A decision, its types forgotten: events in the order in which they are to be written.
///
/// ```
/// use es_framework::{command::UntypedDecision, prelude::*};
///
/// #[derive(Event)]
/// struct BookRemovedEvent {}
///
/// let mut decided = UntypedDecision::on("/books/42".parse()?, Metadata::default());
/// decided.push(&BookRemovedEvent {})?;
/// let (events, reply) = decided.into_parts();
/// assert_eq!((events.len(), reply.is_none()), (1, true));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct UntypedDecision {
    subject: Subject,
    metadata: Metadata,
    events: Vec<NewEvent>,
    reply: Option<Box<RawValue>>,
}

/// An event that is to be written.
///
/// ```
/// # use es_framework::{command::UntypedDecision, prelude::*};
/// # #[derive(Event)]
/// # struct BookRemovedEvent {}
/// # let mut decided = UntypedDecision::on("/books/42".parse()?, Metadata::default());
/// decided.push(&BookRemovedEvent {})?;
/// let (events, _) = decided.into_parts();
/// assert_eq!(events[0].subject.as_str(), "/books/42");
/// assert_eq!(events[0].data.get(), r#"{"metadata":{},"payload":{}}"#);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct NewEvent {
    /// What it is about.
    pub subject: Subject,
    /// What kind of event it is.
    pub event_type: EventType,
    /// Metadata and payload, as they will be stored.
    pub data: Box<RawValue>,
}

/// What a handler answers besides events.
///
/// ```
/// use es_framework::{command::IntoDecision, prelude::*};
/// # #[derive(Event)]
/// # struct BookBorrowedEvent {}
/// # #[derive(Value)]
/// # struct Loan {}
///
/// type Borrowed = Decision<BookBorrowedEvent, Loan>;
/// let mut schemas = schemars::SchemaGenerator::default();
/// assert!(Borrowed::reply(&mut schemas).is_some_and(|reply| reply.always));
/// assert!(Option::<Borrowed>::reply(&mut schemas).is_some_and(|reply| !reply.always));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Its JSON schema.
    pub schema: Schema,
    /// Whether every decision of the handler has one.
    pub always: bool,
}

impl Reply {
    /// The same, but there need not be one.
    fn perhaps(self) -> Self {
        let always = false;
        Self { always, ..self }
    }
}

impl UntypedDecision {
    /// No events yet, for a command on `subject`. Each event is given `metadata`.
    #[must_use]
    pub const fn on(subject: Subject, metadata: Metadata) -> Self {
        Self {
            subject,
            metadata,
            events: Vec::new(),
            reply: None,
        }
    }

    /// Adds an event behind those that are there.
    ///
    /// # Errors
    /// The event cannot be written as JSON, or a field cannot stand in its subject.
    pub fn push<E: Event>(&mut self, event: &E) -> Result<(), HandlerError> {
        let data = event::encode(&self.metadata, event).map_err(|reason| HandlerError::Encode {
            what: E::TYPE.into(),
            reason,
        })?;
        let event_type = EventType::declared(E::TYPE);
        let subject = event
            .subject(&self.subject)
            .map_err(|part| HandlerError::Subject {
                event_type: E::TYPE,
                part,
            })?;
        self.events.push(NewEvent {
            subject,
            event_type,
            data,
        });
        Ok(())
    }

    /// Answers with this instead of nothing.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub fn reply<R: Serialize>(&mut self, reply: &R) -> Result<(), HandlerError> {
        let json = to_raw_value(reply).map_err(|reason| HandlerError::Encode {
            what: "the reply".into(),
            reason,
        })?;
        self.reply = Some(json);
        Ok(())
    }

    /// The events, in order, and the reply.
    #[must_use]
    pub fn into_parts(self) -> (Vec<NewEvent>, Option<Box<RawValue>>) {
        (self.events, self.reply)
    }
}

/// What a handler may return: an event, several as a tuple or a `Vec`, perhaps one as an `Option`,
/// none as `()`, a [`Decision`] with a reply, or a `Result` of any of these.
///
/// ```
/// use es_framework::{command::{UntypedDecision, IntoDecision}, prelude::*};
/// # #[derive(Event)]
/// # struct BookReturnedEvent {}
/// # #[derive(Event)]
/// # struct LoanClosedEvent {}
///
/// let mut decided = UntypedDecision::on("/books/42".parse()?, Metadata::default());
/// (BookReturnedEvent {}, Some(LoanClosedEvent {})).add_to(&mut decided)?;
/// assert_eq!(decided.into_parts().0.len(), 2);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a handler cannot return `{Self}`",
    label = "this is not what a handler decides on",
    note = "return a struct with `#[derive(Event)]`, a tuple of two to four, a `Vec` or an `Option` of such structs, a `Decision` of these and a reply with `#[derive(Value)]`, or a `Result` of any of these and an error with `#[derive(Rejection)]`"
)]
pub trait IntoDecision {
    /// Adds the events, or says why there are none.
    ///
    /// # Errors
    /// The handler rejects the command, or an event cannot be written.
    fn add_to(self, decided: &mut UntypedDecision) -> Result<(), HandlerError>;

    /// What follows from it for a handler that was given these.
    ///
    /// # Errors
    /// The handler rejects the command, or an event cannot be written.
    fn into_decision(self, given: &HandlerContext) -> Result<UntypedDecision, HandlerError>
    where
        Self: Sized,
    {
        given.decide(self)
    }

    /// Every refusal that it may be.
    fn rejections() -> &'static [RejectionDescriptor] {
        &[]
    }

    /// The reply that it holds besides events, if it can hold one.
    fn reply(generator: &mut SchemaGenerator) -> Option<Reply> {
        let _ = generator;
        None
    }
}

impl<E: Event> IntoDecision for E {
    fn add_to(self, decided: &mut UntypedDecision) -> Result<(), HandlerError> {
        decided.push(&self)
    }
}

impl<T: IntoDecision> IntoDecision for Option<T> {
    fn add_to(self, decided: &mut UntypedDecision) -> Result<(), HandlerError> {
        self.map_or(Ok(()), |some| some.add_to(decided))
    }

    fn rejections() -> &'static [RejectionDescriptor] {
        T::rejections()
    }

    fn reply(generator: &mut SchemaGenerator) -> Option<Reply> {
        T::reply(generator).map(Reply::perhaps)
    }
}

impl<T: IntoDecision> IntoDecision for Vec<T> {
    fn add_to(self, decided: &mut UntypedDecision) -> Result<(), HandlerError> {
        self.into_iter().try_for_each(|one| one.add_to(decided))
    }

    fn rejections() -> &'static [RejectionDescriptor] {
        T::rejections()
    }

    fn reply(generator: &mut SchemaGenerator) -> Option<Reply> {
        T::reply(generator).map(Reply::perhaps)
    }
}

impl<T: IntoDecision, R: Serialize + JsonSchema> IntoDecision for Decision<T, R> {
    fn add_to(self, decided: &mut UntypedDecision) -> Result<(), HandlerError> {
        self.events.add_to(decided)?;
        decided.reply(&self.reply)
    }

    fn rejections() -> &'static [RejectionDescriptor] {
        T::rejections()
    }

    fn reply(generator: &mut SchemaGenerator) -> Option<Reply> {
        let schema = generator.subschema_for::<R>();
        let always = true;
        Some(Reply { schema, always })
    }
}

impl<T: IntoDecision, R: Rejection> IntoDecision for Result<T, R> {
    fn add_to(self, decided: &mut UntypedDecision) -> Result<(), HandlerError> {
        self.map_err(|rejection| HandlerError::Rejected(Box::new(rejection)))?
            .add_to(decided)
    }

    fn rejections() -> &'static [RejectionDescriptor] {
        R::all()
    }

    fn reply(generator: &mut SchemaGenerator) -> Option<Reply> {
        T::reply(generator)
    }
}

macro_rules! tuples {
    ($($name:ident),*) => {
        impl<$($name: IntoDecision),*> IntoDecision for ($($name,)*) {
            #[allow(non_snake_case, unused_variables)]
            fn add_to(self, decided: &mut UntypedDecision) -> Result<(), HandlerError> {
                let ($($name,)*) = self;
                $($name.add_to(decided)?;)*
                Ok(())
            }

            #[allow(unused_mut, unused_variables)]
            fn reply(generator: &mut SchemaGenerator) -> Option<Reply> {
                // The last reply is the one that is sent.
                let mut reply: Option<Reply> = None;
                $(reply = $name::reply(generator).or(reply);)*
                reply
            }
        }
    };
}

tuples!();
tuples!(A, B);
tuples!(A, B, C);
tuples!(A, B, C, D);
