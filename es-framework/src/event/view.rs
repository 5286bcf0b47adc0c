//! Stored events as an application reads them today.

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{DecodeError, Event, RecordedEvent};

/// An event as states and projections see it: the stored one itself, or one that an upcaster made
/// of it.
///
/// ```
/// use es_framework::{event::{EventCandidate, EventId, EventTime, EventType, EventView, Hash, Metadata, RecordedEvent, encode}, prelude::*};
///
/// #[derive(Event)]
/// struct BookRemovedEvent {
///     reason: String,
/// }
///
/// # let candidate = EventCandidate {
/// #     source: "library-service".into(),
/// #     subject: "/books/42".parse()?,
/// #     event_type: EventType::declared(BookRemovedEvent::TYPE),
/// #     data: encode(&Metadata::default(), &BookRemovedEvent { reason: "torn".into() })?,
/// #     trace: None,
/// # };
/// # let recorded = RecordedEvent::record(candidate, EventId::FIRST, EventTime::now(), Hash::ZERO);
/// let event = EventView::stored(&recorded);
/// assert!(event.is::<BookRemovedEvent>());
/// assert_eq!(event.payload::<BookRemovedEvent>()?.reason, "torn");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct EventView<'a> {
    event_type: &'a str,
    payload: Payload<'a>,
    recorded: &'a RecordedEvent,
}

#[derive(Debug, Clone, Copy)]
enum Payload<'a> {
    /// Still inside the stored event.
    Stored,
    /// Made by an upcaster.
    Upcast(&'a RawValue),
}

impl<'a> EventView<'a> {
    /// The event as it was stored.
    #[must_use]
    pub fn stored(recorded: &'a RecordedEvent) -> Self {
        Self {
            event_type: recorded.event_type.as_str(),
            payload: Payload::Stored,
            recorded,
        }
    }

    /// What an upcaster made of a stored event.
    #[must_use]
    pub const fn upcast(
        event_type: &'a str,
        payload: &'a RawValue,
        recorded: &'a RecordedEvent,
    ) -> Self {
        Self {
            event_type,
            payload: Payload::Upcast(payload),
            recorded,
        }
    }

    /// Its type, which an upcaster may have changed.
    #[must_use]
    pub const fn event_type(&self) -> &'a str {
        self.event_type
    }

    /// The stored event: its id, time, subject and the rest.
    #[must_use]
    pub const fn recorded(&self) -> &'a RecordedEvent {
        self.recorded
    }

    /// Whether it is an `E`.
    #[must_use]
    pub fn is<E: Event>(&self) -> bool {
        self.event_type == E::TYPE
    }

    /// Its payload.
    ///
    /// # Errors
    /// The payload is of another shape than `P`.
    pub fn payload<P: DeserializeOwned>(&self) -> Result<P, DecodeError> {
        match self.payload {
            Payload::Stored => self.recorded.payload(),
            Payload::Upcast(payload) => self.decoded(serde_json::from_str(payload.get())),
        }
    }

    /// Names the event where its payload does not fit.
    pub(super) fn decoded<T>(&self, result: serde_json::Result<T>) -> Result<T, DecodeError> {
        let read_as = match self.payload {
            Payload::Stored => None,
            Payload::Upcast(_) => Some(self.event_type),
        };
        self.recorded.decoded_as(read_as, result)
    }
}
