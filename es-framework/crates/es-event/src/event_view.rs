//! The form in which an application receives stored events.

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{DecodeError, Event, RecordedEvent, json_numbers, personal};

/// An event as states, projections and reactions receive it: a stored event, or the result of an
/// upcaster.
///
/// ```
/// use es_event::{Declaration, Event, EventCandidate, EventId, EventTime, EventType, EventView, Hash, Metadata, RecordedEvent, encode};
///
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// struct BookRemovedEvent {
///     reason: String,
/// }
/// # impl Event for BookRemovedEvent {
/// #     const TYPE: &str = "com.example.library.BookRemovedEvent";
/// #     const DECLARATION: Declaration = es_event::declaration!();
/// # }
///
/// # let candidate = EventCandidate {
/// #     source: "library-service".into(),
/// #     subject: "/books/42".parse()?,
/// #     event_type: EventType::declared(BookRemovedEvent::TYPE),
/// #     data: encode(&Metadata::default(), &BookRemovedEvent { reason: "torn".into() })?,
/// #     trace: None,
/// # };
/// # let recorded = RecordedEvent::record(candidate, EventId::FIRST, EventTime::now(), Hash::ZERO);
/// let event = EventView::from_recorded(&recorded);
/// assert!(event.is::<BookRemovedEvent>());
/// assert_eq!(event.payload::<BookRemovedEvent>()?.reason, "torn");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct EventView<'a> {
    event_type: &'a str,
    payload: PayloadSource<'a>,
    recorded: &'a RecordedEvent,
}

/// The payload of a view: the stored one, or the one that an upcaster made of it.
#[derive(Debug, Clone, Copy)]
enum PayloadSource<'a> {
    /// The payload is part of the stored event.
    Stored,
    /// An upcaster returned the payload.
    Upcast(&'a RawValue),
}

impl<'a> EventView<'a> {
    /// Creates the view of a stored event that needs no upcaster.
    #[must_use]
    pub fn from_recorded(recorded: &'a RecordedEvent) -> Self {
        Self {
            event_type: recorded.event_type.as_str(),
            payload: PayloadSource::Stored,
            recorded,
        }
    }

    /// Creates the view of an event that an upcaster returned for a stored event.
    #[must_use]
    pub const fn from_upcast(
        event_type: &'a str,
        payload: &'a RawValue,
        recorded: &'a RecordedEvent,
    ) -> Self {
        Self {
            event_type,
            payload: PayloadSource::Upcast(payload),
            recorded,
        }
    }

    /// Returns the event type. An upcaster can have changed it.
    #[must_use]
    pub const fn event_type(&self) -> &'a str {
        self.event_type
    }

    /// Returns the stored event with its id, time and subject.
    #[must_use]
    pub const fn recorded(&self) -> &'a RecordedEvent {
        self.recorded
    }

    /// Returns the time at which the event happened, as [`RecordedEvent::occurred_at`] does.
    #[must_use]
    pub fn occurred_at(&self) -> Timestamp {
        self.recorded.occurred_at()
    }

    /// Returns true if the event has the type of `E`.
    #[must_use]
    pub fn is<E: Event>(&self) -> bool {
        self.event_type == E::TYPE
    }

    /// Deserializes the payload.
    ///
    /// # Errors
    /// Fails if the payload does not have the shape of `P`.
    pub fn payload<P: DeserializeOwned>(&self) -> Result<P, DecodeError> {
        match self.payload {
            PayloadSource::Stored => self.recorded.payload(),
            PayloadSource::Upcast(payload) => {
                self.with_event_context(json_numbers::read_json(payload.get()))
            }
        }
    }

    /// Deserializes the payload of the event `E` with the replacement of each personal value that is in none of the
    /// members `shown`.
    ///
    /// # Errors
    /// Fails if the payload does not have the shape of `E`.
    #[doc(hidden)]
    pub fn payload_without_personal<E: Event>(&self, shown: &[&str]) -> Result<E, DecodeError> {
        let event = self.payload()?;
        self.with_event_context(personal::replace_values(event, shown))
    }

    /// Adds the event's id and type to a deserialization error.
    pub(super) fn with_event_context<T>(
        &self,
        result: serde_json::Result<T>,
    ) -> Result<T, DecodeError> {
        let read_as = match self.payload {
            PayloadSource::Stored => None,
            PayloadSource::Upcast(_) => Some(self.event_type),
        };
        self.recorded.add_context(read_as, result)
    }
}
